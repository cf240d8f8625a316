const digits: Record<string, number> = {
  零: 0,
  〇: 0,
  一: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const places: Record<string, number> = { 十: 10, 百: 100, 千: 1000 };
const big: Record<string, number> = { 万: 1e4, 亿: 1e8 };

/** The value of a Chinese numeral such as 三百二十一点五 or 一万零八; null: it is none. */
export const chineseNumber = (text: string): number | null => {
  const [whole = '', fraction, more] = text.split('点');
  if (more !== undefined || text === '') return null;
  let total = 0;
  let section = 0;
  let digit: number | null = null;
  const isPlain = [...whole.matchAll(/./gu)].every(([letter]) => letter in digits);
  if (isPlain && whole.length > 1) {
    // 二〇二七: digits one after another.
    total = Number(Array.from(whole, (letter) => digits[letter]).join(''));
  } else {
    for (const letter of Array.from(whole)) {
      const value = digits[letter];
      const place = places[letter];
      const lot = big[letter];
      if (value !== undefined) digit = value;
      else if (place !== undefined) {
        section += (digit ?? 1) * place;
        digit = null;
      } else if (lot !== undefined) {
        const part = section + (digit ?? 0);
        total = letter === '亿' ? (total + part) * lot : total + part * lot;
        section = 0;
        digit = null;
      } else return null;
    }
    total += section + (digit ?? 0);
  }
  if (fraction === undefined) return total;
  const decimals = Array.from(fraction, (letter) => digits[letter]);
  if (decimals.length === 0 || decimals.some((value) => value === undefined)) return null;
  return Number(`${total}.${decimals.join('')}`);
};

/**
 * Writes the numbers of a text in digits: 三加五 → 3加5, 1.5万 → 15000, ５０ → 50, 1,234 → 1234.
 * Changes words that hold a numeral too (一下 → 1下): for texts that are about numbers.
 */
export const inDigits = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, '')
    .replace(/(?<!市)[零〇一二两三四五六七八九十百千万亿点]+/g, (word, at: number, all: string) => {
      const before = all[at - 1] ?? '';
      const isAfterDigits = /\d/.test(before);
      if (isAfterDigits || /^[点万亿]/.test(word)) return word;
      const value = chineseNumber(word);
      return value === null ? word : String(value);
    })
    .replace(
      /(\d+(?:\.\d+)?)\s*(万亿|百万|千万|万|亿|千|百)/g,
      (_, number: string, lot: string) => {
        const times = { 万亿: 12, 千万: 7, 百万: 6, 亿: 8, 万: 4, 千: 3, 百: 2 }[lot] ?? 0;
        return Number(`${number}e${times}`).toLocaleString('en-US', {
          useGrouping: false,
          maximumFractionDigits: 10,
        });
      },
    );

const letters = Array.from('零一二三四五六七八九');
const letterOf = (digit: string): string => letters[Number(digit)] ?? '';

/** 1 to 9999 as it is said: 十二, 三百零五. */
const spoken = (value: number): string => {
  const digits = Array.from(String(value));
  const said = digits
    .map((digit, at) => {
      const place = ['', '十', '百', '千'][digits.length - 1 - at] ?? '';
      return digit === '0' ? '零' : letterOf(digit) + place;
    })
    .join('')
    .replace(/零+/g, '零')
    .replace(/(?<=.)零$/, '');
  return said.replace(/^一十/, '十');
};

/** Writes the whole numbers of a text in Chinese, years digit by digit: 2025年12月 → 二零二五年十二月. */
export const inChinese = (text: string): string =>
  text.replace(/(?<![\d.])\d{1,4}(?![\d.])/g, (number) =>
    number.length === 4 || number.startsWith('0')
      ? Array.from(number, letterOf).join('')
      : spoken(Number(number)),
  );
