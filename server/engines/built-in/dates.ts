import { inDigits } from './chinese-numbers.ts';

/** Questions about days, in China's time. Days are counted as UTC midnights, so none has 23 hours. */

const dayMs = 86_400_000;
const chinaMs = 8 * 3_600_000;
const weekdays = ['星期日', '星期一', '星期二', '星期三', '星期四', '星期五', '星期六'];

const day = (year: number, month: number, date: number): Date | null => {
  const value = new Date(Date.UTC(year, month - 1, date));
  return year >= 1 &&
    year <= 9999 &&
    value.getUTCMonth() === month - 1 &&
    value.getUTCDate() === date
    ? value
    : null;
};

const todayOf = (now: Date): Date => {
  const here = new Date(now.getTime() + chinaMs);
  return new Date(Date.UTC(here.getUTCFullYear(), here.getUTCMonth(), here.getUTCDate()));
};

const addDays = (from: Date, days: number): Date => new Date(from.getTime() + days * dayMs);

/** 31 January and a month is the last day of February. */
const addMonths = (from: Date, months: number): Date => {
  const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(from.getUTCDate(), last));
  return first;
};

const write = (value: Date): string =>
  `${value.getUTCFullYear()} 年 ${value.getUTCMonth() + 1} 月 ${value.getUTCDate()} 日（${weekdays[value.getUTCDay()] ?? ''}）`;

const between = (from: Date, to: Date): number =>
  Math.round((to.getTime() - from.getTime()) / dayMs);

const relative: Record<string, number> = {
  大前天: -3,
  前天: -2,
  昨天: -1,
  今天: 0,
  今日: 0,
  现在: 0,
  明天: 1,
  后天: 2,
  大后天: 3,
};
const feasts: Record<string, [number, number]> = {
  元旦: [1, 1],
  情人节: [2, 14],
  妇女节: [3, 8],
  植树节: [3, 12],
  愚人节: [4, 1],
  劳动节: [5, 1],
  五一: [5, 1],
  青年节: [5, 4],
  儿童节: [6, 1],
  六一: [6, 1],
  建党节: [7, 1],
  建军节: [8, 1],
  教师节: [9, 10],
  国庆节: [10, 1],
  国庆: [10, 1],
  十一: [10, 1],
  平安夜: [12, 24],
  圣诞节: [12, 25],
  圣诞: [12, 25],
};
const lunar = /春节|过年|除夕|元宵|端午|中秋|重阳|清明|农历|阴历|七夕/;

interface Found {
  date: Date;
  /** The year was not said. */
  isYearless: boolean;
}

const datePattern = new RegExp(
  [
    String.raw`(?<y>\d{4})\s*[-/.年]\s*(?<m>\d{1,2})\s*[-/.月]\s*(?<d>\d{1,2})\s*[日号]?`,
    String.raw`(?<m2>\d{1,2})\s*月\s*(?<d2>\d{1,2})\s*[日号]?`,
    `(?<word>${Object.keys(relative)
      .sort((a, b) => b.length - a.length)
      .join('|')})`,
    `(?<feast>${Object.keys(feasts)
      .sort((a, b) => b.length - a.length)
      .join('|')})`,
  ].join('|'),
  'g',
);

const datesIn = (text: string, today: Date): Found[] | 'wrong' => {
  const found: Found[] = [];
  for (const { groups = {} } of text.matchAll(datePattern)) {
    const { y, m, d, m2, d2, word, feast } = groups;
    let date: Date | null = null;
    if (y !== undefined) date = day(Number(y), Number(m), Number(d));
    else if (m2 !== undefined) date = day(today.getUTCFullYear(), Number(m2), Number(d2));
    else if (word !== undefined) date = addDays(today, relative[word] ?? 0);
    else {
      const [month, at] = feasts[feast ?? ''] ?? [1, 1];
      date = day(today.getUTCFullYear(), month, at);
    }
    if (!date) return 'wrong';
    found.push({ date, isYearless: m2 !== undefined || feast !== undefined });
  }
  return found;
};

const nextTime = ({ date, isYearless }: Found, today: Date): Date =>
  isYearless && date < today ? addMonths(date, 12) : date;

/** The answer to a question about days, or null when it is none. */
export const dates = (question: string, now: Date): string | null => {
  // 五一, 十一 and 六一 are feasts, not numbers.
  const text = inDigits(
    question.replace(
      /五一|六一|十一(?![月点])(?=.{0,3}(?:还有|放假|国庆|是))/g,
      (feast) => ({ 五一: '劳动节', 六一: '儿童节', 十一: '国庆节' })[feast] ?? feast,
    ),
  );
  const today = todayOf(now);

  if (
    /^(?:请问|现在|北京时间)*(?:是)?(?:几点|什么时间|几点钟|时间)(?:了|钟)*[?？啊呢]*$/.test(text)
  ) {
    const here = new Date(now.getTime() + chinaMs);
    return `现在是北京时间 **${here.toISOString().slice(11, 16)}**，${write(today)}。`;
  }

  const leap = /(\d{4})\s*年?\s*(?:是不是|是否是|是)?\s*闰年/.exec(text);
  if (leap) {
    const year = Number(leap[1]);
    return `${year} 年${day(year, 2, 29) ? '是闰年，二月有 29 天' : '不是闰年，二月有 28 天'}。`;
  }

  const asksDays = /(?:多少|几)\s*天|还有多久|倒计时|相差|相隔|间隔/.test(text);
  if (asksDays && lunar.test(text))
    return '我不会算农历节日，请告诉我它的公历日期，例如“距离 2027-02-06 还有几天”。';

  const found = datesIn(text, today);
  if (found === 'wrong') return '日历上没有这一天，请检查一下日期。';
  const [first, second] = found;

  const shift =
    /(\d{1,6})\s*(?:个)?\s*(天|日|周|星期|礼拜|月|年)\s*(?:之|以)?\s*(后|前)/.exec(text) ??
    /(?:过|再过)\s*(\d{1,6})\s*(?:个)?\s*(天|日|周|星期|礼拜|月|年)(后)?/.exec(text);
  if (shift && !second) {
    const sign = shift[3] === '前' ? -1 : 1;
    const count = Number(shift[1]) * sign;
    const unit = shift[2] ?? '天';
    const from = first?.date ?? today;
    const to =
      unit === '月'
        ? addMonths(from, count)
        : unit === '年'
          ? addMonths(from, count * 12)
          : addDays(from, /周|星期|礼拜/.test(unit) ? count * 7 : count);
    if (Number.isNaN(to.getTime()) || to.getUTCFullYear() > 9999 || to.getUTCFullYear() < 1)
      return '那一天太远了，我算不到。';
    const start = first ? write(from) : '今天';
    return `${start}的 ${shift[1]} ${/月/.test(unit) ? '个月' : /星期|礼拜/.test(unit) ? `个${unit}` : unit}${sign < 0 ? '前' : '后'}是 **${write(to)}**。`;
  }

  if (first && second && (asksDays || /到|至|之间/.test(text)) && /天|多久|差|隔/.test(text)) {
    const count = between(first.date, second.date);
    return `从 ${write(first.date)}到 ${write(second.date)}，相差 **${Math.abs(count)}** 天${count < 0 ? '（后一个日期更早）' : ''}。`;
  }

  if (first && asksDays) {
    const isPast = /过去|已经|过了/.test(text);
    const target = isPast ? first.date : nextTime(first, today);
    const count = between(today, target);
    if (count === 0) return `就是今天：${write(target)}。`;
    return count > 0
      ? `今天是 ${write(today)}，到 ${write(target)}还有 **${count}** 天。`
      : `${write(target)}已经过去 **${-count}** 天。`;
  }

  const asksDay = /星期几|周几|礼拜几|几号|几月|日期|什么日子|哪天|哪一天|几年|哪年|今年/.test(
    text,
  );
  if (first && asksDay) {
    const name = Object.keys(relative).find((word) => text.includes(word)) ?? '那天';
    return first.isYearless || /\d{4}/.test(text)
      ? `${write(first.date).replace('（', '是 **').replace('）', '**')}。`
      : `${name === '现在' ? '今天' : text.includes('大后天') ? '大后天' : name}是 **${write(first.date)}**。`;
  }
  if (found.length === 1 && text.replace(datePattern, '').replace(/[呢?？。\s]/g, '') === '')
    return `**${write(found[0]?.date ?? today)}**。`;
  if (/^(?:请问)?(?:星期几|周几|几号|今年是(?:几几|哪一|哪)?年?)[了啊呢?？]*$/.test(text))
    return `今天是 **${write(today)}**。`;
  return null;
};
