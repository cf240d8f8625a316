import { expect, test } from 'vitest';
import { pdfOf, scanOf } from '#tests/support/sample-files.ts';
import { drawPage } from './draw-page.ts';
import { nothingSeen, seePages } from './see-pages.ts';
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
  expect(broken).toEqual({ ...nothingSeen(), failed: 1 });
}, 300_000);

test('a page full of letters lets others have their turn, is read once, and has its bounds', async () => {
  const line = '山上有一座古老的桥，桥下的河水每年春天涨起来。';
  const page = Array.from({ length: 12 }, (_, at) => `${at} ${line}`).join('\n');
  const dense = new Uint8Array(await pdfOf([page, page]));
  const small = new Uint8Array(await scanOf('账单三十五元'));
  const ended: string[] = [];
  const reads = seePages(dense, [1, 2], {
    seconds: 60,
    turn: 0.5,
    owner: { person: '2', guest: false },
    onPage: (done) => void ended.push(`page ${done}`),
  });
  const bill = await seePages(small, null, { ...reading, onPage: () => void ended.push('bill') });
  expect(textOf(bill.blocks)).toContain('三十五元');
  const seen = await reads;
  expect(ended).toEqual(['bill', 'page 1', 'page 2']);
  const wordsOf = (page: number) =>
    seen.blocks.flatMap(({ place, text }) => (place.page === page ? [text] : [])).join('\n');
  expect(wordsOf(1).split('古老的桥').length).toBeGreaterThan(9);
  // Its second page shows what the first one does.
  expect(Object.values(seen.marks)).toEqual([1]);
  expect(wordsOf(2)).toBe(wordsOf(1));
  expect(seen.looks.map(({ page }) => page)).toEqual([1, 2]);

  const hurried = await seePages(dense, [1], { seconds: 0.25, owner });
  expect(hurried).toMatchObject({ failed: 0, cut: 1 });
  expect(hurried.blocks.length).toBeGreaterThan(0);
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
