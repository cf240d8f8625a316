import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

/**
 * `npx tsx scripts/icons.ts`: draws the icons of the installed app from public/icon.svg into
 * public/icons/. They are committed; run it again when the drawing changes.
 */
const pub = fileURLToPath(new URL('../public/', import.meta.url));
const out = path.join(pub, 'icons');
mkdirSync(out, { recursive: true });

const whole = readFileSync(path.join(pub, 'icon.svg'), 'utf8');
const [, defs = '', bridge = ''] =
  /<svg[^>]*>(<defs>.*<\/defs>)<rect[^>]*\/>(.*)<\/svg>/s.exec(whole) ?? [];
if (bridge === '') throw new Error('public/icon.svg: defs, one rect and the bridge are expected');

const svg = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">${content}</svg>`;
const scaled = (content: string, scale: number) =>
  `<g transform="translate(${32 - 32 * scale} ${32 - 32 * scale}) scale(${scale})">${content}</g>`;
const ground = '<rect width="64" height="64" fill="url(#g)"/>';
/** One colour on nothing: the system tints it. The eye becomes a hole. */
const single = bridge
  .replaceAll(/stroke-opacity="[^"]*"/g, '')
  .replace(/<circle[^>]*\/>/, '<circle cx="36" cy="18.200" r="1.300" fill="#000"/>');

/** Strokes on the accent's ground, for the shortcuts; the paths are those of the page's icons. */
const shortcut = (lines: string) =>
  svg(
    `${defs}<rect width="64" height="64" rx="15" fill="url(#g)"/><g transform="translate(14 14) scale(1.5)" fill="none" stroke="#fff" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round"><path d="${lines}"/></g>`,
  );

const drawings: Record<string, [drawing: string, size: number]> = {
  'icon-192.png': [whole, 192],
  'icon-512.png': [whole, 512],
  // What lies outside of the inner four fifths may be cut off by the system.
  'maskable-192.png': [svg(`${defs}${ground}${scaled(bridge, 0.92)}`), 192],
  'maskable-512.png': [svg(`${defs}${ground}${scaled(bridge, 0.92)}`), 512],
  'apple-touch-icon.png': [svg(`${defs}${ground}${scaled(bridge, 0.96)}`), 180],
  'monochrome-512.png': [svg(scaled(single, 0.9)), 512],
  'badge-96.png': [svg(scaled(single, 1.1)), 96],
  'new-chat-96.png': [
    shortcut(
      'M12 4c-4.7 0-8.5 3.2-8.5 7.2 0 2.2 1.2 4.2 3 5.5L6 20l3.600-1.900c.8.2 1.600.3 2.400.3 4.700 0 8.500-3.200 8.500-7.200S16.700 4 12 4ZM12 8.500v5.500M9.250 11.250h5.500',
    ),
    96,
  ],
  'new-image-96.png': [
    shortcut(
      'M5 4.5h14A1.500 1.500 0 0 1 20.500 6v12a1.500 1.500 0 0 1-1.500 1.500H5A1.500 1.500 0 0 1 3.500 18V6A1.500 1.500 0 0 1 5 4.500ZM8.500 10.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3ZM4 17l5-5 3.500 3.500L16 12l4.500 4.500',
    ),
    96,
  ],
};

for (const [name, [drawing, size]] of Object.entries(drawings)) {
  let image = sharp(Buffer.from(drawing), { density: (72 * size) / 64 }).resize(size, size);
  if (name.startsWith('monochrome') || name.startsWith('badge')) {
    // Black becomes transparent, white stays.
    const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    for (let at = 0; at < data.length; at += 4) {
      data[at + 3] = Math.round(((data[at] ?? 0) * (data[at + 3] ?? 0)) / 255);
      data.fill(255, at, at + 3);
    }
    image = sharp(data, { raw: info });
  }
  if (name.startsWith('apple') || name.startsWith('maskable')) image = image.removeAlpha();
  await image
    .png({ compressionLevel: 9, palette: !name.startsWith('mono') })
    .toFile(path.join(out, name));
}
console.log(`${Object.keys(drawings).length} icons in ${out}`);
