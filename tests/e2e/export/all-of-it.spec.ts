import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { expect, test } from '#tests/support/app.ts';
import { pdfText } from '#tests/support/exports.ts';
import { bringTalks } from '#tests/support/talks.ts';

const diagram = '```mermaid\ngraph TD\n  A[出发] --> B[过桥]\n  B --> C[到达]\n```';
const code = (line: string) => `\`\`\`js\n${line}\n\`\`\``;

test('diagrams and the ends of long lines are in the files and the long picture @C13', async ({
  app,
  page,
  person,
}) => {
  const long = `const answer = [${Array.from({ length: 120 }, (_, at) => `'第${at}项'`).join(', ')}];`;
  const uuid = await bringTalks(person.client, [
    {
      title: '都在里面',
      exchanges: [
        ['短的', code('const answer = 42;')],
        ['长的', `${diagram}\n\n${code(long)}`],
      ],
    },
  ]);
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await page
    .getByRole('button', { name: /更多|会话菜单/ })
    .first()
    .click();
  await page.getByRole('button', { name: '导出与分享' }).click();
  const sheet = page.getByRole('dialog', { name: '导出与分享' });
  const pdf = page.waitForEvent('download', { timeout: 30_000 });
  await sheet.getByRole('button', { name: /^PDF/ }).click();
  const data = await readFile(await (await pdf).path());
  const { text } = await pdfText(data);
  expect(text).not.toContain('graphTD');
  expect(text).toContain("'第119项'");
  expect(text).toContain('中国标准时间');
  expect(data.includes('/DCTDecode')).toBe(true);

  const drawn = async (count: number) => {
    await page.getByRole('button', { name: `最近 ${count} 条` }).click();
    const picture = page.getByRole('img', { name: '长图' });
    await expect(picture).toBeVisible({ timeout: 30_000 });
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: '保存图片' }).click();
    return readFile(await (await saved).path());
  };
  await sheet.getByRole('button', { name: /^长图/ }).click();
  const png = await drawn(1);
  const { data: pixels, info } = await sharp(png)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  // The ground of a diagram's boxes (#dbe7fd), which nothing else has.
  let boxes = 0;
  for (let at = 0; at < pixels.length; at += 3)
    if (pixels[at] === 0xdb && pixels[at + 1] === 0xe7 && pixels[at + 2] === 0xfd) boxes += 1;
  expect(boxes).toBeGreaterThan(2_000);
  // A line of 1,100 characters takes some thirty lines of a phone's width.
  expect(info.height).toBeGreaterThan(2_000);
  expect(info.width).toBe(780);
});
