import { readFileSync } from 'node:fs';
import { type KeywordType, keywordType } from '#contract/image.ts';

export interface Keyword {
  /** Stays the same for good: people's marks name it. */
  id: number;
  /** English, as models read it. */
  text: string;
  /** Chinese. */
  langZh: string;
  type: KeywordType;
  /** Group and group within it, in Chinese. */
  dir: string;
  subDir: string;
}

/** One group as its file has it. New words stand at a group's end, so that numbers stay. */
interface Group {
  /** Number of its first word; the others follow. */
  first: number;
  dir: string;
  sub_dir: string;
  words: [english: string, chinese: string][];
}

/** Beside this module in development, beside the bundle in production. */
const readType = (type: KeywordType): Keyword[] => {
  const file = new URL(`./keywords/${type}.json`, import.meta.url);
  const groups = JSON.parse(readFileSync(file, 'utf8')) as Group[];
  return groups.flatMap(({ first, dir, sub_dir: subDir, words }) =>
    words.map(([text, langZh], at) => ({ id: first + at, text, langZh, type, dir, subDir })),
  );
};

const read = new Map<KeywordType, Keyword[]>();

/** The library's words of a type, or all; each file is read when first asked for. */
export const keywordsOf = (type?: KeywordType): readonly Keyword[] => {
  if (type === undefined) return keywordType.options.flatMap((each) => keywordsOf(each));
  let words = read.get(type);
  if (!words) {
    words = readType(type);
    read.set(type, words);
  }
  return words;
};
