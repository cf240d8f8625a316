import { maskName } from '#contract/mask-name.ts';

export { maskName } from '#contract/mask-name.ts';

/** 8 to 11 digits (a telephone number) with the middle hidden; an address with most of its name hidden. */
export const maskAccount = (account: string): string => {
  const at = account.indexOf('@');
  if (at > 1) return `${account.slice(0, Math.min(2, at - 1))}***${account.slice(at)}`;
  return maskName(account);
};

/** 2026-11-21 09:36 in the person's own time zone. */
export const dateTime = (time: string): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

/** A size in bytes, in words: 812 B, 12 KB, 3.4 MB, 1.7 GB. */
export const byteSize = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`;
  const kilobytes = bytes / 1024;
  if (kilobytes < 1024) return `${Math.round(kilobytes)} KB`;
  const megabytes = kilobytes / 1024;
  if (megabytes < 1000) return `${megabytes.toFixed(1)} MB`;
  return `${(megabytes / 1024).toFixed(1)} GB`;
};

/** Up to so many letters a name is seen whole beside another. */
const shortName = 10;
/** Letters that are worth an ellipsis. */
const worthLeaving = 6;
const words = /[^\s\-_/:]+[\s\-_/:]*/g;

/**
 * Names that stand beside each other where there is little room: what all of them begin with is left
 * out of long ones, so that they are told apart though their ends are cut off.
 */
export const toldApart = (names: readonly string[]): string[] => {
  if (names.length < 2 || names.every((name) => name.length <= shortName)) return [...names];
  const parts = names.map((name) => name.match(words) ?? [name]);
  const [first = []] = parts;
  const most = Math.min(...parts.map((each) => each.length)) - 1;
  let same = 0;
  while (same < most && parts.every((each) => each[same] === first[same])) same += 1;
  const saved = first.slice(0, same).join('').length;
  return saved < worthLeaving ? [...names] : parts.map((each) => `…${each.slice(same).join('')}`);
};
