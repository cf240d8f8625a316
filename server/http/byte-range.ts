import type { ByteRange } from '../storage/byte-range.ts';

/** The one range of a header `Range`; null: none, or one that may be passed over (RFC 9110, 14.2). */
export const readRange = (header: string | undefined): ByteRange | null => {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') return { last: Number(last) };
  const from = Number(first);
  const to = last === '' ? null : Number(last);
  return to !== null && to < from ? null : { from, to };
};
