import { toXmlText } from '#server/xml-text.ts';
import { officeFile, relations, relationsOf } from './parts.ts';

const names = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

export interface SheetOfCells {
  name: string;
  /** The first row is the head. */
  rows: readonly (readonly string[])[];
}

/** A, B … Z, AA. */
const columnName = (at: number): string =>
  at < 26
    ? String.fromCharCode(65 + at)
    : columnName(Math.floor(at / 26) - 1) + String.fromCharCode(65 + (at % 26));

/** What is a number is one, so that it can be summed; 007 and 13800000000 123 are words. */
const numberOf = (text: string): number | null => {
  const plain = /^-?(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:,\d{3}){1,4})(?:\.\d{1,10})?$/.test(text);
  return plain ? Number(text.replaceAll(',', '')) : null;
};

/** A Chinese letter is as wide as two. */
const widthOf = (text: string): number =>
  Array.from(text).reduce((sum, letter) => sum + (letter > '\u2E80' ? 2 : 1), 0);

const cell = (text: string, row: number, column: number): string => {
  const at = `${columnName(column)}${row + 1}`;
  const look = row === 0 ? ' s="1"' : '';
  const number = row === 0 ? null : numberOf(text.trim());
  // Words are words, whatever they begin with: no cell is a formula.
  return number === null
    ? `<c r="${at}"${look} t="inlineStr"><is><t xml:space="preserve">${toXmlText(text)}</t></is></c>`
    : `<c r="${at}"><v>${number}</v></c>`;
};

const sheetXml = ({ rows }: SheetOfCells, foot: string): string => {
  const columns = Math.max(1, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.min(60, Math.max(8, ...rows.map((row) => widthOf(row[column] ?? '') + 2))),
  );
  const cols = widths
    .map((width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`)
    .join('');
  // Below the table, and no row of it: a foot of the page is seen in print alone.
  const below = foot === '' ? [] : [[], [foot]];
  const body = [...rows, ...below]
    .map(
      (row, at) =>
        `<row r="${at + 1}">${row.map((text, column) => cell(text, at, column)).join('')}</row>`,
    )
    .join('');
  return `<worksheet xmlns="${names}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${cols}</cols><sheetData>${body}</sheetData></worksheet>`;
};

/** As Excel takes it: at most 31 letters, each name once. */
const sheetNames = (sheets: readonly SheetOfCells[]): string[] => {
  const taken = new Set<string>();
  return sheets.map(({ name }, at) => {
    const plain =
      name
        .replaceAll(/[\\/?*[\]:']/g, ' ')
        .trim()
        .slice(0, 28) || `表 ${at + 1}`;
    let unique = plain;
    for (let n = 2; taken.has(unique.toLowerCase()); n += 1) unique = `${plain} ${n}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
};

const styles = `<styleSheet xmlns="${names}"><fonts count="2"><font><sz val="11"/><name val="等线"/></font><font><b/><sz val="11"/><name val="等线"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFEDF0F5"/></patternFill></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf fontId="1" fillId="2" applyFont="1" applyFill="1"/></cellXfs></styleSheet>`;

/** A workbook. @param foot words below each page that is printed; empty: none */
export const xlsxFile = (sheets: readonly SheetOfCells[], foot: string): Uint8Array => {
  const named = sheetNames(sheets);
  const list = named
    .map((name, at) => `<sheet name="${toXmlText(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
    .join('');
  const parts = sheets.map((sheet, at) => [
    `xl/worksheets/sheet${at + 1}.xml`,
    sheetXml(sheet, foot),
  ]);
  return officeFile(
    'xl/workbook.xml',
    {
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/styles.xml': 'spreadsheetml.styles',
      ...Object.fromEntries(parts.map(([name]) => [name, 'spreadsheetml.worksheet'])),
    },
    {
      'xl/workbook.xml': `<workbook xmlns="${names}" xmlns:r="${relations}"><sheets>${list}</sheets></workbook>`,
      'xl/styles.xml': styles,
      'xl/_rels/workbook.xml.rels': relationsOf([
        ...sheets.map((_, at) => ({
          id: `rId${at + 1}`,
          kind: 'worksheet',
          target: `worksheets/sheet${at + 1}.xml`,
        })),
        { id: `rId${sheets.length + 1}`, kind: 'styles', target: 'styles.xml' },
      ]),
      ...Object.fromEntries(parts),
    },
  );
};
