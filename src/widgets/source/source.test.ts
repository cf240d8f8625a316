import { expect, test } from 'vitest';
import { groupsOf } from './lines.ts';
import { pageMarks } from './page-marks.ts';

test('rows are a table again with what stands around them, words stay words', () => {
  const rows = '城市：北京；住宿：500\n城市：成都；住宿：350；餐费：100';
  const [head, table, foot] = groupsOf(
    {
      before: '标准如下。\n城市：广州；住宿：450',
      stretches: [
        { text: rows.slice(0, 13), marked: false },
        { text: rows.slice(13), marked: true },
      ],
      after: '以上。',
    },
    { first: 3, last: 4 },
  );
  expect([head?.kind, foot?.kind]).toEqual(['words', 'words']);
  if (table?.kind !== 'table') throw new Error('there is no table');
  expect(table.names).toEqual(['城市', '住宿', '餐费']);
  expect(
    table.rows.map(({ cells, row, around, stretches }) => [
      cells.get('城市'),
      row,
      around,
      stretches.some(({ marked }) => marked),
    ]),
  ).toEqual([
    ['广州', 0, true, false],
    ['北京', 3, false, false],
    ['成都', 4, false, true],
  ]);
});

const line = (text: string, x: number, y: number, width: number) => ({
  text,
  x,
  y,
  width,
  height: 0.02,
});

test('words are marked where they stand on a page: over its lines, within the passage, a row at its height', () => {
  const page = [
    line('年假须知', 0.1, 0.05, 0.2),
    line('入职满一年的员工有十二', 0.1, 0.1, 0.55),
    line('天年假。可以分三次休完。', 0.1, 0.13, 0.6),
    line('成都', 0.1, 0.3, 0.1),
    line('350', 0.5, 0.301, 0.06),
    line('北京', 0.1, 0.34, 0.1),
    line('500', 0.5, 0.34, 0.06),
  ];
  const passage = '入职满一年的员工有十二天年假。可以分三次休完。';
  const [one, two, ...more] = pageMarks(page, passage, ['入职满一年的员工有十二天年假。']);
  expect(more).toEqual([]);
  expect(one).toMatchObject({ x: 0.1, y: 0.1, width: 0.55 });
  expect(two).toMatchObject({ x: 0.1, y: 0.13, width: expect.closeTo(0.15) });
  // The heading says the word, too, and is none of the passage.
  expect(pageMarks(page, passage, ['年假']).map(({ y }) => y)).toEqual([0.13]);
  const row = pageMarks(page, '城市：北京；住宿：500', ['城市：北京；住宿：500']);
  expect(row.map(({ y }) => y)).toEqual([0.34, 0.34]);
  expect(pageMarks(page, passage, ['不在这一页上的话'])).toEqual([]);
});
