import { chinaDay } from '#common/china-time.ts';

/** The last so many days up to today, YYYY-MM-DD in China's time, as the server counts days. */
export const lastDays = (count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    chinaDay(Date.now() - (count - 1 - at) * 24 * 3_600_000),
  );
