import { Converter } from 'opencc-js';
import { inChinese, inDigits } from '#common/chinese-numbers.ts';
import { englishWords, glossesOf } from './glosses.ts';
import { namesBySound, type Stands } from './pinyin.ts';
import { searchedLetters, evenLetters } from './letters.ts';
import { withoutShell } from './shells.ts';
import { asMainlandSays, asTaiwanSays } from './strait.ts';
import { meantBy } from './synonyms.ts';
import { termsOf } from './terms.ts';

/** One thing that a question asks for: a term, or an English word with what Chinese says for it. */
export interface Slot {
  /** How much it says, 0 to 1, before its rarity. */
  weight: number;
  /** Each alternative is there where all of its terms are. */
  words: { text: string; terms: string[]; weight: number }[];
  /** What follows the first alternative says the same in other words: the first alone says how rare it is. */
  alike?: true;
}

/** A question as it may have been meant. */
export interface Reading {
  /** In searched letters. */
  text: string;
  weight: number;
  slots: Slot[];
}

/** How much each kind of term counts, chosen on the sets of questions in docs/decisions/training.md. */
const weights = {
  /** A single Chinese character. */
  letter: 0.7,
  /** A pair across the border of two words. */
  across: 0.6,
  /** What only says that a number, a person or a time is asked for, which no answer repeats. */
  asking: 0.3,
  /** A number of one or two digits. */
  shortNumber: 0.3,
  /** A single Chinese character as the translation of a word. */
  letterGloss: 0.3,
  /** Each later sense of a translation counts less. */
  laterSense: 0.5,
  /** The question in the words of the other side of the strait. */
  otherWords: 0.95,
  /** Another word for the same, as a part of how often it stands there. */
  alike: 0.3,
} as const;

const words = new Intl.Segmenter('zh', { granularity: 'word' });
const han = /\p{Script=Han}/u;

const weightOf = (term: string): number => {
  if (/^\d{1,2}$/.test(term)) return weights.shortNumber;
  return han.test(term) && Array.from(term).length === 1 ? weights.letter : 1;
};

/** What asks for a number, a person or a time. */
const asking =
  /的?(?:大[概约])?是?(?:多少[钱个天人次]?|多[久长大高远]|什么时候|何时|哪[天年月位一个里]|几[点号天年月次个]|谁)/g;

/** Of a word longer than one character the pairs say it all. */
const termsOfWord = (word: string): string[] => {
  const terms = [...termsOf(word).keys()];
  return terms.length === 1 ? terms : terms.filter((term) => Array.from(term).length > 1);
};

const slotsOf = (text: string): Slot[] => {
  const like = new Map<string, string[]>();
  for (const { word, others } of meantBy(text))
    for (const term of termsOfWord(word)) like.set(term, [...(like.get(term) ?? []), ...others]);
  // Pairs across the border of what only asks say as little.
  const matter = termsOf(text.replace(asking, ' '));
  const within = new Set<string>();
  for (const { segment } of words.segment(text))
    for (const term of termsOf(segment).keys()) within.add(term);
  return [...termsOf(text).keys()].map((term) => {
    const weight =
      weightOf(term) *
      (within.has(term) ? 1 : weights.across) *
      (matter.size === 0 || matter.has(term) ? 1 : weights.asking);
    const own = { text: term, terms: [term], weight: 1 };
    const others = like.get(term);
    if (!others) return { weight, words: [own] };
    const meant = others.map((word) => ({
      text: word,
      terms: termsOfWord(word),
      weight: weights.alike,
    }));
    return { weight, words: [own, ...meant], alike: true };
  });
};

const englishSlots = (text: string): Slot[] => {
  const asked = new Set(englishWords(text));
  const found = glossesOf(text);
  const translated = new Set(found.map(({ name }) => name));
  const slots = found.map(({ name, glosses }) => ({
    weight: 1,
    words: [
      ...(name.includes(' ') ? [] : [{ text: name, terms: [name], weight: 1 }]),
      ...glosses.map(({ word, sense }) => ({
        text: word,
        terms: termsOfWord(word),
        weight: (word.length === 1 ? weights.letterGloss : 1) / (1 + weights.laterSense * sense),
      })),
    ],
  }));
  // Names and numbers go along as they are; words of form are rare among Chinese ones and would lead astray.
  for (const term of termsOf(text).keys())
    if (!translated.has(term) && (asked.has(term) || /\d|[_.+#-]/.test(term) || han.test(term)))
      slots.push({ weight: weightOf(term), words: [{ text: term, terms: [term], weight: 1 }] });
  return slots;
};

/** A reading with the Chinese names that its pinyin may stand for, in the place of its Latin words. */
const withNames = (reading: Reading, stands: Stands): Reading => {
  const names = namesBySound(reading.text, stands);
  if (names.length === 0) return reading;
  const latin = new Set(names.flatMap((name) => [...name.latin, name.latin.join(' ')]));
  return {
    ...reading,
    slots: [
      ...reading.slots.filter(({ words }) => !words.every(({ text }) => latin.has(text))),
      ...names.map(({ latin: parts, words }) => ({
        weight: 1,
        words: [
          { text: parts.join(' '), terms: parts, weight: 1 },
          ...words.map((text) => ({ text, terms: termsOfWord(text), weight: 1 })),
        ],
      })),
    ],
  };
};

const isEnglish = (text: string): boolean => {
  const latin = text.match(/[a-z]/g)?.length ?? 0;
  const chinese = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return latin > chinese * 2 && englishWords(text).length > 0;
};

let converters: {
  toTaiwan: (text: string) => string;
  fromTaiwan: (text: string) => string;
  traditional: (text: string) => string;
} | null = null;

/** A question in the words of the mainland and of Taiwan: 程序 is 程式 there. */
const otherWords = (text: string): string[] => {
  converters ??= {
    toTaiwan: Converter({ from: 'cn', to: 'twp' }),
    fromTaiwan: Converter({ from: 'twp', to: 'cn' }),
    traditional: Converter({ from: 'cn', to: 'tw' }),
  };
  const { toTaiwan, fromTaiwan, traditional } = converters;
  return [
    asMainlandSays(text, (between) => fromTaiwan(traditional(between))),
    asTaiwanSays(text, toTaiwan),
  ];
};

const numeral = '[零一二两三四五六七八九十百千万亿]';
/** Numbers, and no words that begin with a numeral, such as 一下 and 统一. */
const numbers = new RegExp(String.raw`\d|第${numeral}|${numeral}{2,}|${numeral}(?=[年月日号天])`);

/** A question with its numbers in the other script: 第12条 is 第十二条. */
const otherNumbers = (text: string): string[] =>
  numbers.test(text) ? [inChinese(text), inDigits(text)] : [];

/**
 * What a question may mean, the likeliest first: as it is asked, and as others would say it. A passage
 * counts by the reading that it fits best.
 * @param stands whether a Chinese term is in what is searched: without it pinyin stays Latin
 */
export const readingsOf = (question: string, stands?: Stands): Reading[] => {
  const named = (reading: Reading) => (stands ? withNames(reading, stands) : reading);
  const asked = withoutShell(evenLetters(question));
  const text = searchedLetters(asked);
  if (isEnglish(text)) return [named({ text, weight: 1, slots: englishSlots(text) })];
  const others = new Set([...otherWords(text), ...otherNumbers(text)].map(searchedLetters));
  others.delete(text);
  return [
    named({ text, weight: 1, slots: slotsOf(text) }),
    ...[...others].map((other) => ({
      text: other,
      weight: weights.otherWords,
      slots: slotsOf(other),
    })),
  ];
};
