import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { familyRules } from '#contract/image-family.ts';
import type { ImageParameters } from '#contract/image.ts';
import { ideaShapes, imageIdeas } from '#contract/image-ideas.ts';
import { profiles } from '#packages/canvas/profiles.ts';
import { workOn } from '#packages/canvas/work.ts';

/**
 * `npx tsx scripts/samples.ts`: draws with the built-in canvas what the page shows of its ideas,
 * styles and LoRAs, into public/samples/. They are committed; run it again when the canvas changes.
 */
const out = fileURLToPath(new URL('../public/samples/', import.meta.url));
mkdirSync(out, { recursive: true });

const seed = 20_260;
const subject = '黄昏的雪山，湖面倒影，一只小船';

const draw = async (
  name: string,
  prompt: string,
  size: { width: number; height: number },
  shown: number,
  parameters: ImageParameters = {},
  from = seed,
) => {
  const answer = await workOn(
    {
      kind: 'make',
      order: {
        task: 'generate',
        prompt,
        n: 1,
        ...size,
        parameters,
        strength: 75,
        resizeMode: 0,
        seed: from,
        base: null,
        control: null,
        background: null,
        profiles: [],
      },
    },
    { progress: () => Promise.resolve() },
  );
  if (answer.kind !== 'made') throw new Error(`${name} was not drawn`);
  await sharp(answer.images[0]!.data)
    .resize(shown)
    .webp({ quality: 76, effort: 6 })
    .toFile(path.join(out, `${name}.webp`));
};

for (const { name, prompt, shape } of imageIdeas) {
  const [width, height] = ideaShapes[shape];
  await draw(`idea-${name}`, prompt, { width, height }, 480);
}
const square = { width: 512, height: 512 };
await draw('plain', subject, square, 160);
for (const { name } of familyRules.builtIn.styles)
  await draw(`style-${name}`, subject, square, 160, { style: name });
for (const { key } of profiles)
  await draw(`lora-${key}`, subject, square, 160, { lora: [{ key, weight: 100 }] });
// What stands where a page is missing or something was refused, by day and by night.
const wide = { width: 768, height: 432 };
await draw('bridge-day', '清晨 雾 河 桥 喜鹊', wide, 640, {}, 3);
await draw('bridge-night', '夜晚 河 拱桥 月亮 星星 飞鸟 倒影', wide, 640, {}, 3);
