import { serverNow } from './server-clock.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const month = 30 * day;
const year = 365 * day;

/**
 * How long ago something was, in words (document 1 §9, document 2 §9).
 * @param time ISO 8601
 * @param now ms since the epoch
 */
export const relativeTime = (time: string, now = serverNow()): string => {
  // A clock that runs behind the server's must not speak of the future.
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  if (Number.isNaN(seconds)) return '';
  if (seconds < 30) return '刚刚';
  if (seconds < minute) return `${seconds} 秒前`;
  if (seconds < hour) return `${Math.floor(seconds / minute)} 分钟前`;
  if (seconds < day) return `${Math.floor(seconds / hour)} 小时前`;
  if (seconds < month) return `${Math.floor(seconds / day)} 天前`;
  if (seconds < year) return `${Math.floor(seconds / month)} 个月前`;
  return `${Math.floor(seconds / year)} 年前`;
};
