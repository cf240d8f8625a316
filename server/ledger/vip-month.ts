/**
 * The start of the membership month that `now` lies in: months are counted from the activation, in
 * UTC; an activation on the 31st begins its shorter months on their last day.
 */
export const vipMonthStart = (activatedAt: Date, now: Date): Date => {
  const startOf = (month: number): Date => {
    const lastDay = new Date(
      Date.UTC(activatedAt.getUTCFullYear(), activatedAt.getUTCMonth() + month + 1, 0),
    ).getUTCDate();
    const start = new Date(activatedAt);
    start.setUTCDate(1);
    start.setUTCMonth(activatedAt.getUTCMonth() + month);
    start.setUTCDate(Math.min(activatedAt.getUTCDate(), lastDay));
    return start;
  };
  const months =
    (now.getUTCFullYear() - activatedAt.getUTCFullYear()) * 12 +
    (now.getUTCMonth() - activatedAt.getUTCMonth());
  const start = startOf(months);
  return start > now ? startOf(months - 1) : start;
};
