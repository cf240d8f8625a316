import { LunarDay, SolarDay, SolarTerm } from 'tyme4ts';

/** The Chinese calendar. Days are UTC midnights. Intl has it, too, but is a day off in some years (2027). */

const dateOf = (day: SolarDay): Date =>
  new Date(Date.UTC(day.getYear(), day.getMonth() - 1, day.getDay()));

/** Such as 丙午年十月十三. */
export const lunarWords = (date: Date): string =>
  SolarDay.fromYmd(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
    .getLunarDay()
    .toString()
    .replace('农历', '');

/** The first that is not before `from`, of what comes in each year; years without it are left out. */
const firstFrom = (from: Date, inYear: (year: number) => SolarDay): Date | null => {
  // A year of the moon ends in the next one of the sun, and a month's thirtieth day is often missing.
  for (let year = from.getUTCFullYear() - 1; year <= from.getUTCFullYear() + 40; year++) {
    try {
      const date = dateOf(inYear(year));
      if (date >= from) return date;
    } catch {
      // There is no such day in that year.
    }
  }
  return null;
};

/** The first day from `from` on that has this month (below 0: a leap one) and day; null: there is none. */
export const nextLunar = (month: number, day: number, from: Date): Date | null =>
  firstFrom(from, (year) => LunarDay.fromYmd(year, month, day).getSolarDay());

const feasts: Record<string, [month: number, day: number]> = {
  春节: [1, 1],
  过年: [1, 1],
  元宵节: [1, 15],
  元宵: [1, 15],
  端午节: [5, 5],
  端午: [5, 5],
  乞巧节: [7, 7],
  中元节: [7, 15],
  中秋节: [8, 15],
  中秋: [8, 15],
  重阳节: [9, 9],
  重阳: [9, 9],
  腊八节: [12, 8],
  腊八: [12, 8],
};

const terms: Record<string, string> = { 清明节: '清明', 清明: '清明', 冬至: '冬至' };

/** Feasts whose day the sun or the moon makes. */
export const movableFeasts = ['除夕', ...Object.keys(feasts), ...Object.keys(terms)];

/** The first day from `from` on that has this feast; null: it can not be told. */
export const nextFeast = (name: string, from: Date): Date | null => {
  const term = terms[name];
  if (term !== undefined)
    return firstFrom(from, (year) => SolarTerm.fromName(year, term).getSolarDay());
  // The last day of a year has no number of its own.
  if (name === '除夕')
    return firstFrom(from, (year) => LunarDay.fromYmd(year, 1, 1).getSolarDay().next(-1));
  const [month = 1, day = 1] = feasts[name] ?? [];
  return nextLunar(month, day, from);
};
