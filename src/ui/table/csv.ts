import { saveBlob } from '#src/platform/save-file.ts';

/**
 * Rows as a file for a spreadsheet: UTF-8 with its mark, so that Excel reads Chinese, and CRLF.
 * A text that a spreadsheet would take for a formula is kept a text.
 */
export const csvOf = (
  rows: readonly (readonly (string | number | null | undefined)[])[],
): string => {
  const cell = (value: string | number | null | undefined): string => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `\uFEFF${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
};

/** Hands a text to the person as a file. */
export const saveText = (name: string, text: string, type = 'text/csv') =>
  saveBlob(new Blob([text], { type: `${type};charset=utf-8` }), name);
