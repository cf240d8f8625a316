/** What one point of a chart stands for. */
export type Span = 'day' | 'week' | 'month';

/** px that a name under the axis takes, with the gap to the next one. */
const room = 64;

const partsOf = (day: string) => day.split('-').map(Number) as [number, number, number];

/**
 * Which points are named under an axis so wide, px, by their places: as many as there is room for,
 * at even distances. Months keep to steps that a year is made of.
 */
export const namedPoints = (count: number, width: number, by: Span): number[] => {
  const least = Math.max(1, Math.ceil((count * room) / Math.max(width, room)));
  const step = by === 'month' ? ([1, 2, 3, 4, 6, 12].find((each) => each >= least) ?? 12) : least;
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
};

/** Names of days, YYYY-MM-DD; the year stands below the first one and where another begins. */
export const axisNames = (days: readonly string[], by: Span): string[] =>
  days.map((text, at) => {
    const [year, month, day] = partsOf(text);
    const name = by === 'month' ? `${month}月` : `${month}月${day}日`;
    const before = at > 0 ? partsOf(days[at - 1]!)[0] : null;
    return before === year || days.length === 1 ? name : `${name}\n${year}年`;
  });

/** The same of one point, whole. */
export const pointName = (day: string, by: Span): string => {
  const [year, month] = partsOf(day);
  if (by === 'month') return `${year} 年 ${month} 月`;
  return by === 'week' ? `${day} 起的一周` : day;
};
