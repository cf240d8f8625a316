import { limits } from '#contract/limits.ts';
import type { Span } from '#src/ui/chart/axis-days.ts';
import { lastDays } from '#src/ui/chart/last-days.ts';
import { lastSpans } from '#src/ui/date-range/ranges.ts';

const dayMs = 24 * 3_600_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** YYYY-MM-DD, where the ledger counts days. */
export const today = (): string => lastDays(1)[0]!;

/** All days from one to another. */
export const daysBetween = (from: string, to: string): string[] => {
  const first = Date.parse(from);
  const count = Math.max(0, (Date.parse(to) - first) / dayMs + 1);
  return Array.from({ length: count }, (_, at) => dayOf(first + at * dayMs));
};

/** The last day of a month, YYYY-MM. */
export const monthEnd = (month: string): string => {
  const [year = 0, nth = 1] = month.split('-').map(Number);
  return dayOf(Date.UTC(year, nth, 0));
};

/** The days of a month up to today. */
export const daysOf = (month: string): string[] => {
  const [last, now] = [monthEnd(month), today()];
  return daysBetween(`${month}-01`, last < now ? last : now);
};

/** Bars that are told apart on a phone; of more days there is one for a week. */
const mostBars = 92;

const weekOf = (day: string): string => {
  const at = Date.parse(day);
  // From Monday on.
  return dayOf(at - ((new Date(at).getUTCDay() + 6) % 7) * dayMs);
};

/** The bars of some days: what one stands for, when each begins, and to which a day belongs. */
export const barsOf = (
  days: readonly string[],
): { by: Span; starts: string[]; barOf: (day: string) => string } =>
  days.length <= mostBars
    ? { by: 'day', starts: [...days], barOf: (day) => day }
    : { by: 'week', starts: [...new Set(days.map(weekOf))], barOf: weekOf };

interface Asked {
  month?: string;
  range?: string;
  from?: string;
  to?: string;
}
const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** What an address asks for: a month, the one that runs where nothing is said, or days. */
export const spanOf = ({ month, range, from, to }: Asked): Asked => {
  const quick = lastSpans.find(({ key }) => key === range);
  if (quick) return { from: lastDays(quick.days)[0]!, to: today() };
  if (isDay(from) || isDay(to)) return { ...(isDay(from) && { from }), ...(isDay(to) && { to }) };
  return month && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? { month } : {};
};

/** Why days cannot be asked for. */
export const spanProblem = ({ from, to }: Asked): string | undefined => {
  if (from === undefined) return to === undefined ? undefined : '请选择从哪一天开始';
  const [now, last] = [today(), to ?? today()];
  if (from > now) return '开始的一天还没有到';
  if (from > last) return '开始的一天在结束的一天之后';
  return daysBetween(from, last < now ? last : now).length > limits.usageDays
    ? `一次最多看 ${limits.usageDays} 天`
    : undefined;
};
