import { expect, test } from 'vitest';
import { pdfOf, scanOf } from '#tests/support/sample-files.ts';
import { drawPage } from './draw-page.ts';
import { seePages } from './see-pages.ts';
import { textOf } from './text-of.ts';

const owner = { person: '1', guest: false };
const reading = { seconds: 60, owner };

test('what a scanned page shows is read, and what is no picture fails alone', async () => {
  const words = ['出差住宿每天不超过五百元', '餐费每天一百二十元，凭发票报销'];
  const scan = new Uint8Array(await scanOf(words.join('\n')));
  const seen = await seePages(scan, null, reading);
  expect(seen).toMatchObject({ failed: 0, missing: false });
  // The lines of a crooked page are kept as they stand once it is level.
  const [looks] = seen.looks;
  expect(looks?.angle).toBeCloseTo(-1.5, 0);
  expect(looks?.lines.map(({ text }) => text)).toEqual(words);
  const [one, other] = looks?.lines ?? [];
  expect(Math.abs((one?.x ?? 0) - (other?.x ?? 1))).toBeLessThan(0.02);
  expect(textOf(seen.blocks).replaceAll(/\s/g, '')).toBe(words.join(''));
  const pages = await seePages(new Uint8Array(await pdfOf(['春夏秋冬东南西北'])), [1], reading);
  expect(pages.blocks).toMatchObject([{ text: '春夏秋冬东南西北', place: { page: 1 } }]);
  const broken = await seePages(scan.slice(0, 200), null, reading);
  expect(broken).toEqual({ blocks: [], looks: [], failed: 1, missing: false });
}, 300_000);

test('files of pages that wait to be drawn are not read yet, and few may wait', async () => {
  let reads = 0;
  let begin = (): void => undefined;
  const begun = new Promise<null>((resolve) => {
    begin = () => resolve(null);
  });
  const asked = Array.from({ length: 20 }, () =>
    drawPage(
      () => {
        reads += 1;
        return begun;
      },
      { seconds: 5, owner },
    ),
  );
  const told = Promise.allSettled(asked);
  await new Promise(setImmediate);
  expect(reads).toBe(1);
  begin();
  const refused = (await told).filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThanOrEqual(16);
  expect(reads).toBe(20 - refused.length);
});
