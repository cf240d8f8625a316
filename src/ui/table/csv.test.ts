import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

test('quotes what needs it, leaves numbers, and defuses formulas', () => {
  expect(
    csvOf([
      ['名称', '数'],
      ['说“好”,"行"', 3],
      ['=1+1', -2],
      ['-1+1', '@SUM(A1)'],
      [null, undefined],
    ]),
  ).toBe('\uFEFF名称,数\r\n"说“好”,""行""",3\r\n\'=1+1,-2\r\n\'-1+1,\'@SUM(A1)\r\n,\r\n');
});
