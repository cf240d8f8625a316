import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import sharp from 'sharp';
import { chromiumArgs, chromiumPath } from '#tests/support/browser.ts';
import { enterAs } from '#tests/support/enter-as.ts';
import { TestClient } from '#tests/support/client.ts';
import { startServer } from '#tests/support/server.ts';

/**
 * `npx tsx scripts/screenshots.ts` after a build: takes the images that a browser shows before
 * the app is installed (public/screenshots/, named in scripts/pwa.ts), and the README's of three of
 * them. They are committed.
 */
const out = fileURLToPath(new URL('../public/screenshots/', import.meta.url));
const server = await startServer({ embedded: true });
const browser = await chromium.launch({
  args: chromiumArgs,
  ...(chromiumPath ? { executablePath: chromiumPath } : {}),
});

const save = async (name: string, image: Buffer) => {
  const { width, height, size } = await sharp(image)
    .webp({ quality: 82 })
    .toFile(path.join(out, `${name}.webp`));
  console.log(`${name}.webp ${width}x${height}, ${Math.round(size / 1000)} KB`);
};

/** The image of the README: screens in a row, all of one height. */
const besideEachOther = async (names: string[]) => {
  const height = 555;
  const screens = await Promise.all(
    names.map(async (name) => {
      const made = sharp(path.join(out, `${name}.webp`)).resize({ height });
      const { data, info } = await made.png().toBuffer({ resolveWithObject: true });
      return { input: data, width: info.width };
    }),
  );
  let left = 0;
  const row = screens.map(({ input, width }) => {
    left += width;
    return { input, left: left - width, top: 0 };
  });
  await sharp({ create: { width: left, height, channels: 3, background: '#fff' } })
    .composite(row)
    .png({ palette: true, colours: 192 })
    .toFile(path.join(out, 'readme.png'));
};

try {
  const client = await TestClient.register(server.baseURL);
  const ask = async (question: string) => {
    const { uuid, id } = await client.ask(question);
    await client.read(uuid, id);
    return uuid;
  };
  await ask('26.2 英里是多少公里？');
  await ask('今天是今年的第几天？');
  await ask('(128 + 36) × 2.5 等于多少？');
  const shown = await ask('给我一个包含表格、代码和公式的 Markdown 示例');
  const take = async (name: string, address: string, wide: boolean) => {
    const context = await browser.newContext({
      viewport: wide ? { width: 1440, height: 900 } : { width: 390, height: 844 },
      deviceScaleFactor: wide ? 1 : 2,
      hasTouch: !wide,
      isMobile: !wide,
      locale: 'zh-CN',
      timezoneId: 'Asia/Shanghai',
    });
    await enterAs(context, client);
    const page = await context.newPage();
    await page.goto(server.baseURL + address, { waitUntil: 'networkidle' });
    await save(name, await page.screenshot());
    await context.close();
  };
  await take('phone-home', '/?channel=private', false);
  await take('phone-chat', `/chat?uuid=${shown}`, false);
  await take('wide-home', '/?channel=private', true);
  await take('wide-chat', `/chat?uuid=${shown}`, true);
  await besideEachOther(['wide-chat', 'phone-home', 'phone-chat']);
} finally {
  await browser.close();
  await server.stop();
}
