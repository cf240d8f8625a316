/** Where a passage stands in its file; what a kind of file does not have is left out. Numbers from 1. */
export interface Place {
  page?: number;
  sheet?: string;
  /** The row of the sheet or the table, and the last of several. */
  row?: number;
  toRow?: number;
  slide?: number;
  /** Headings above it, the outermost first. */
  heading?: string[];
}

/** The place for people: 第 3 页 · 表《价目》· 第 12 行. */
export const placeText = ({ page, sheet, row, toRow, slide, heading }: Place): string =>
  [
    page === undefined ? '' : `第 ${page} 页`,
    slide === undefined ? '' : `第 ${slide} 张幻灯片`,
    (heading ?? []).join(' › '),
    sheet === undefined ? '' : `表“${sheet}”`,
    row === undefined ? '' : toRow === undefined ? `第 ${row} 行` : `第 ${row}–${toRow} 行`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
