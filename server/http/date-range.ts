import { Refusal } from './handlers.ts';

/** The people live by China's clock, which has no summer time. */
const aheadMs = 8 * 3_600_000;
const dayMs = 24 * 3_600_000;

const written =
  /^(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})日?(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?$/;

/** Ms since 1970, from September 2001 on. */
const inMs = /^\d{13}$/;

/** A day or a time of China's clock as pickers write it, or an instant with its zone or in ms. */
const instantOf = (text: string | undefined, name: string): number | undefined => {
  if (text === undefined || text === '') return undefined;
  if (inMs.test(text)) return Number(text);
  const [, year, month, day, hour = 0, minute = 0, second = 0] = written.exec(text.trim()) ?? [];
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const rolled = year !== undefined && new Date(midnight).getUTCDate() !== Number(day);
  const at =
    year === undefined
      ? Date.parse(text)
      : midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 - aheadMs;
  if (Number.isNaN(at) || rolled) throw new Refusal('bad_input', `${name} 应为一个日期或时间`);
  return at;
};

/** A time as it is given to a call; a date alone is its beginning, or its end where it is a last day. */
export const readTime = (
  text: string,
  name: string,
  { lastDay = false }: { lastDay?: boolean } = {},
): Date | null => {
  const at = instantOf(text, name);
  const isDate = written.exec(text.trim())?.[4] === undefined && written.test(text.trim());
  return at === undefined ? null : new Date(lastDay && isDate ? at + dayMs : at);
};

/**
 * The span of a range, its end excluded. A date is a whole day of China, and so is an end at
 * midnight there, as pickers of dates send it. @throws Refusal bad_input
 */
export const readDates = (
  start: string | undefined,
  end: string | undefined,
  names: { start: string; end: string },
): { from?: Date; to?: Date } => {
  const from = instantOf(start, names.start);
  const last = instantOf(end, names.end);
  const isDay = last !== undefined && (last + aheadMs) % dayMs === 0;
  const to = isDay ? last + dayMs : last;
  if (from !== undefined && to !== undefined && from > to)
    throw new Refusal('bad_input', `${names.start} 应在 ${names.end} 之前`);
  return {
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
};
