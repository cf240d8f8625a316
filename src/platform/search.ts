/**
 * What stands in an address after the question mark, as plain text (`?query=12` is the text 12).
 * Unreadable values are dropped: an address typed by hand never breaks a screen.
 */
export type RawSearch = Record<string, unknown>;

/** Text, cut to `max` characters. */
export const words = (raw: RawSearch, key: string, max = 200): string | undefined => {
  const value = raw[key];
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return String(value).slice(0, max) || undefined;
};

/** A whole number from 1. */
export const whole = (raw: RawSearch, key: string): number | undefined => {
  const value = Number(words(raw, key));
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined;
};

/** The digit 1. */
export const on = (raw: RawSearch, key: string): 1 | undefined =>
  words(raw, key) === '1' ? 1 : undefined;

/** A place of this page, as an address is written; anything that could lead elsewhere is dropped. */
export const place = (raw: RawSearch, key: string): string | undefined => {
  const value = words(raw, key, 2000);
  if (value === undefined || !value.startsWith('/')) return undefined;
  const here = 'http://here';
  try {
    const { origin, pathname, search, hash } = new URL(value, here);
    return origin === here ? `${pathname}${search}${hash}` : undefined;
  } catch {
    return undefined;
  }
};

/** One of some words; anything else is dropped. */
export const oneOf =
  <const T extends string>(options: readonly T[]) =>
  (raw: RawSearch, key: string): T | undefined =>
    options.find((option) => option === raw[key]);

export const parseSearch = (search: string): RawSearch =>
  Object.fromEntries(new URLSearchParams(search));

export const stringifySearch = (search: RawSearch): string => {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(search))
    if (typeof value === 'string' || typeof value === 'number') params.set(key, String(value));
  const text = params.toString();
  return text && `?${text}`;
};

/** A search schema whose parts may all be left out of a link. */
export const loose =
  <T extends object>(read: (raw: RawSearch) => T) =>
  (raw: RawSearch): Partial<T> =>
    read(raw);
