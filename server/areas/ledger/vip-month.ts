/** The n-th month's start of a membership that was activated then: see `vipMonthStart`. */
const startOf = (activatedAt: Date, month: number): Date => {
  const lastDay = new Date(
    Date.UTC(activatedAt.getUTCFullYear(), activatedAt.getUTCMonth() + month + 1, 0),
  ).getUTCDate();
  const start = new Date(activatedAt);
  start.setUTCDate(1);
  start.setUTCMonth(activatedAt.getUTCMonth() + month);
  start.setUTCDate(Math.min(activatedAt.getUTCDate(), lastDay));
  return start;
};

const monthsBetween = (from: Date, to: Date): number =>
  (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + (to.getUTCMonth() - from.getUTCMonth());

/**
 * The start of the membership month that `now` lies in: months are counted from the activation, in
 * UTC; an activation on the 31st begins its shorter months on their last day.
 */
export const vipMonthStart = (activatedAt: Date, now: Date): Date => {
  const months = monthsBetween(activatedAt, now);
  const start = startOf(activatedAt, months);
  return start > now ? startOf(activatedAt, months - 1) : start;
};

/**
 * The end of a membership that ended at `expiredAt`, moved by some months (fewer than 0: back). Ends
 * that are whole months from the activation stay so: a month bought in February is not cut to 28
 * days for ever.
 */
export const vipEndMoved = (activatedAt: Date, expiredAt: Date, months: number): Date => {
  const bought = monthsBetween(activatedAt, expiredAt);
  return startOf(activatedAt, bought).getTime() === expiredAt.getTime()
    ? startOf(activatedAt, bought + months)
    : startOf(expiredAt, months);
};
