import { serverNow } from '#src/platform/server-clock.ts';

const two = (value: number) => String(value).padStart(2, '0');

const dayOf = (date: Date) =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** The time between two messages: 今天 9:36, 昨天 21:05, 11月2日 8:00, 2025年3月4日 8:00. */
export const separatorTime = (time: string, now = new Date(serverNow())): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const clock = `${date.getHours()}:${two(date.getMinutes())}`;
  const days = Math.round((dayOf(now) - dayOf(date)) / 86_400_000);
  if (days === 0) return `今天 ${clock}`;
  if (days === 1) return `昨天 ${clock}`;
  const day = `${date.getMonth() + 1}月${date.getDate()}日 ${clock}`;
  return date.getFullYear() === now.getFullYear() ? day : `${date.getFullYear()}年${day}`;
};
