const aheadMs = 8 * 3_600_000;

/**
 * The clock of China, which keeps one time without summer: 2026-01-05T08:00:00. Days, months, numbers
 * of orders and payment services go by it.
 */
export const chinaClock = (at: Date | number): string =>
  new Date(Number(at) + aheadMs).toISOString().slice(0, 19);

/** The day in China, YYYY-MM-DD. */
export const chinaDay = (at: Date | number): string => chinaClock(at).slice(0, 10);
