import { tableRow } from '#common/table-row.ts';

/** A stretch of a passage; marked: an answer rests on it. */
export interface Stretch {
  text: string;
  marked: boolean;
}

export interface Line {
  stretches: Stretch[];
  /** It stands before or behind the passage. */
  around: boolean;
}

export interface TableLine extends Line {
  /** By the names of their columns. */
  cells: ReadonlyMap<string, string>;
  /** As its file counts it; 0: not known. */
  row: number;
}

export type Group =
  | { kind: 'words'; lines: Line[] }
  | { kind: 'table'; names: string[]; rows: TableLine[] };

export const wordsOf = ({ stretches }: Line): string => stretches.map(({ text }) => text).join('');

/** Stretches, cut where a line ends. */
const linesOf = (stretches: readonly Stretch[], around: boolean): Line[] => {
  const lines: Line[] = [{ stretches: [], around }];
  for (const { text, marked } of stretches)
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) lines.push({ stretches: [], around });
      if (part !== '') lines.at(-1)?.stretches.push({ text: part, marked });
    }
  return lines;
};

/** The cells of a line that is a row of a table, by the names of their columns. */
export const cellsOf = (row: string): Map<string, string> =>
  new Map(
    row.split('；').map((cell) => {
      const at = cell.indexOf('：');
      return [cell.slice(0, at), cell.slice(at + 1)];
    }),
  );

/**
 * A passage with what stands around it, rows of tables as tables again.
 * @param first the row of the table that its first one is, and `last` its last one, if its file tells
 */
export const groupsOf = (
  { before, stretches, after }: { before: string; stretches: readonly Stretch[]; after: string },
  { first = 0, last = first }: { first?: number | undefined; last?: number | undefined } = {},
): Group[] => {
  const plain = (text: string) => (text === '' ? [] : [{ text, marked: false }]);
  const own = linesOf(stretches, false);
  const lines = [...linesOf(plain(before), true), ...own, ...linesOf(plain(after), true)];
  const isRow = (line: Line) => tableRow.test(wordsOf(line));
  // Where rows were left out, being empty, nobody knows which one a line is.
  const counted = first > 0 && own.filter(isRow).length === last - first + 1;
  const groups: Group[] = [];
  let row = first;
  for (const line of lines) {
    if (line.stretches.length === 0) continue;
    const group = groups.at(-1);
    if (!isRow(line)) {
      if (group?.kind === 'words') group.lines.push(line);
      else groups.push({ kind: 'words', lines: [line] });
      continue;
    }
    const cells = cellsOf(wordsOf(line));
    const made = { ...line, cells, row: counted && !line.around ? row : 0 };
    if (!line.around) row += 1;
    if (group?.kind !== 'table')
      groups.push({ kind: 'table', names: [...cells.keys()], rows: [made] });
    else {
      group.rows.push(made);
      group.names.push(...[...cells.keys()].filter((name) => !group.names.includes(name)));
    }
  }
  return groups;
};
