import { inDigits } from '#common/chinese-numbers.ts';
import { lunarWords, movableFeasts, nextFeast, nextLunar } from './lunar.ts';

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
const lunar = /农历|阴历|闰\d/;

const longestFirst = (names: readonly string[]): string =>
  [...names].sort((a, b) => b.length - a.length).join('|');

interface Found {
  date: Date;
  /** Where the year was not said: its first day from another day on. */
  from?: (start: Date) => Date | null;
  /** What it was called. */
  name?: string;
}

const datePattern = new RegExp(
  [
    String.raw`(?<y>\d{4})\s*[-/.年]\s*(?<m>\d{1,2})\s*[-/.月]\s*(?<d>\d{1,2})\s*[日号]?`,
    String.raw`(?<leap>闰)?(?<m2>\d{1,2})\s*月\s*(?<d2>\d{1,2})\s*[日号]?`,
    `(?:(?<year>[今明去]年|\\d{4}\\s*年?)的?\\s*)?(?<feast>${longestFirst([...Object.keys(feasts), ...movableFeasts])})`,
    `(?<word>${longestFirst(Object.keys(relative))})`,
  ].join('|'),
  'g',
);

/** First of January; `said`: 今年, 2027年. */
const yearOf = (said: string, today: Date): Date => {
  const steps: Record<string, number> = { 去: -1, 今: 0, 明: 1 };
  const step = steps[said[0] ?? ''];
  const year = step === undefined ? Number.parseInt(said, 10) : today.getUTCFullYear() + step;
  return new Date(Date.UTC(year, 0, 1));
};

const nextFixed = (month: number, date: number, start: Date): Date | null => {
  const year = start.getUTCFullYear();
  const here = day(year, month, date);
  return here && here < start ? day(year + 1, month, date) : here;
};

const nextOf = (feast: string, start: Date): Date | null => {
  const fixed = feasts[feast];
  return fixed ? nextFixed(fixed[0], fixed[1], start) : nextFeast(feast, start);
};

const datesIn = (text: string, today: Date): Found[] | 'wrong' => {
  const found: Found[] = [];
  const isLunar = lunar.test(text);
  const add = (date: Date | null, more: Omit<Found, 'date'> = {}): boolean => {
    if (date) found.push({ date, ...more });
    return date !== null;
  };
  const thisYear = yearOf('今', today);
  for (const { groups = {} } of text.matchAll(datePattern)) {
    const { y, m, d, leap, m2, d2, word, feast, year } = groups;
    let fits: boolean;
    if (y !== undefined) fits = add(day(Number(y), Number(m), Number(d)));
    else if (m2 !== undefined) {
      const from = (start: Date) =>
        (isLunar ? nextLunar : nextFixed)(leap ? -Number(m2) : Number(m2), Number(d2), start);
      fits = add(from(isLunar ? today : thisYear), { from });
    } else if (word !== undefined) {
      const name = word === '现在' ? '今天' : word;
      fits = add(addDays(today, relative[word] ?? 0), { name });
    } else {
      const from = (start: Date) => nextOf(feast ?? '', start);
      const name = `${year ?? ''}${feast}`;
      // What the moon makes may fall into a year twice, or never.
      const start = feasts[feast ?? ''] ? thisYear : today;
      fits =
        year === undefined
          ? add(from(start), { from, name })
          : add(from(yearOf(year, today)), { name });
    }
    if (!fits) return 'wrong';
  }
  return found;
};

const nextTime = ({ date, from }: Found, today: Date): Date =>
  (date < today && from?.(today)) || date;

/** The last time before today, of what comes again. */
const lastTime = ({ date, from }: Found, today: Date): Date => {
  let last = date;
  if (!from) return last;
  for (let at = from(addDays(today, -800)); at !== null && at <= today; at = from(addDays(at, 1)))
    last = at;
  return last;
};

/** The answer to a question about days, or null when it is none. */
export const dates = (question: string, now: Date): string | null => {
  // 五一, 十一 and 六一 are feasts, not numbers.
  const text = inDigits(
    question
      .replace(
        /五一|六一|十一(?![月点])(?=.{0,3}(?:还有|放假|国庆|是))/g,
        (feast) => ({ 五一: '劳动节', 六一: '儿童节', 十一: '国庆节' })[feast] ?? feast,
      )
      .replace(/大年初一/g, '春节')
      // It would be read as a number.
      .replace(/七夕节?/g, '乞巧节')
      .replace(/大年三十|年三十/g, '除夕')
      .replace(
        /(正|冬|腊)月(初?)/g,
        (_, month: string) => `农历${{ 正: '1', 冬: '11', 腊: '12' }[month] ?? ''}月`,
      )
      .replace(/(闰?[一二三四五六七八九十]{1,2})月初(?=[一二三四五六七八九十])/g, '农历$1月'),
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

  const untilEach = /还有|还剩/.test(text) && !/到|至|之间|差|隔/.test(text);
  // 今天离春节还有几天 names where to count from.
  const ahead = found.filter(({ date }) => between(today, date) !== 0);
  if (ahead.length > 1 && asksDays && untilEach && ahead.length <= 5)
    return ahead
      .map((each) => {
        const target = nextTime(each, today);
        const days = between(today, target);
        const name = each.name === undefined ? '' : `${each.name}：`;
        return `- ${name}${write(target)}，${days < 0 ? '已经过去' : '还有'} **${Math.abs(days)}** 天`;
      })
      .join('\n');
  if (first && second && (asksDays || /到|至|之间/.test(text)) && /天|多久|差|隔/.test(text)) {
    const count = between(first.date, second.date);
    return `从 ${write(first.date)}到 ${write(second.date)}，相差 **${Math.abs(count)}** 天${count < 0 ? '（后一个日期更早）' : ''}。`;
  }

  if (first && asksDays) {
    const isPast = /过去|已经|过了/.test(text);
    const target = (isPast ? lastTime : nextTime)(first, today);
    const count = between(today, target);
    if (count === 0) return `就是今天：${write(target)}。`;
    return count > 0
      ? `今天是 ${write(today)}，到 ${write(target)}还有 **${count}** 天。`
      : `${write(target)}已经过去 **${-count}** 天。`;
  }

  // A day that is named by our calendar, asked for in the other one.
  if (/(?:农历|阴历)(?:是|的)?(?:几|哪|多少|什么|$|[?？呢])/.test(text) && found.length < 2) {
    const date = first?.date ?? today;
    return `${write(date)}是农历 **${lunarWords(date)}**。`;
  }

  const asksDay = /星期几|周几|礼拜几|几号|几月|日期|什么日子|哪天|哪一天|几年|哪年|今年/.test(
    text,
  );
  if (first && asksDay) {
    if (first.name !== undefined) return `${first.name}是 **${write(first.date)}**。`;
    return `${write(first.date).replace('（', '是 **').replace('）', '**')}。`;
  }
  if (found.length === 1 && text.replace(datePattern, '').replace(/[呢?？。\s]/g, '') === '')
    return `**${write(found[0]?.date ?? today)}**。`;
  if (/^(?:请问)?(?:星期几|周几|几号|今年是(?:几几|哪一|哪)?年?)[了啊呢?？]*$/.test(text))
    return `今天是 **${write(today)}**。`;
  return null;
};
