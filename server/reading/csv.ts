import Papa from 'papaparse';
import type { Block } from './block.ts';
import { tableBlocks, type TableRow } from './table.ts';

/** A table as text, whatever stands between its cells. */
export const csvBlocks = (text: string): Iterable<Block> => {
  const rows: TableRow[] = [];
  let row = 0;
  Papa.parse<string[]>(text, {
    skipEmptyLines: false,
    delimitersToGuess: [',', '\t', ';', '|'],
    step: ({ data }) => {
      row += 1;
      rows.push({ row, cells: data.map((cell) => ({ text: cell })) });
    },
  });
  return tableBlocks(rows, {});
};
