import { searchedLetters } from '#server/search/letters.ts';
import { latinWord, partsOfWord, squeeze } from '#server/search/terms.ts';

/**
 * Search in the sections of the help: character pairs and Latin words, ranked by BM25. They are few,
 * short and written with the words that people ask with. server/search/question.ts ranks them as well,
 * but its coverage hardly tells what is answered here from what is not (docs/decisions/training.md).
 */

export interface Fields {
  title: string;
  heading: string;
  keywords: string;
  topic: string;
  text: string;
}

export interface Hit<T> {
  item: T;
  score: number;
  /** How much of what was asked is in it, 0–1, rare words counting more. */
  coverage: number;
}

const weights: Record<keyof Fields, number> = {
  title: 3,
  heading: 4,
  keywords: 4,
  topic: 2,
  text: 1,
};

/** Words of asking, not of the matter. */
const idle =
  /请问|请教|请你|请|麻烦|告诉我|想知道|我想|帮我|帮忙|怎么办|怎么样|怎样|怎么|如何|什么是|是什么|什么|为什么|为啥|哪里|哪儿|哪些|哪个|多少|几个|有没有|是不是|能不能|可不可以|可以|能够|能|会不会|一下|一个|这个|那个|一些|我的|你们|你的|我们|我|你|它|吗|呢|啊|呀|吧|嘛|了|的|地|得|着|是|要|在|有|和|与|或者|或|还是|把|被|给|对|就|都|也|很|太|不|没/g;

/** 这个应用怎么画图 asks nothing about apps. */
const here =
  /[这本](?:个|款)?(?:应用|软件|程序|网站|平台|系统|app)[里上中]?(?=怎|如何|能|可以|有|会)/g;

/** Of the words of a text: a short number says little about what is asked. */
const latinWeight = (word: string): number => (/^\d{1,2}$/.test(word) ? 0.2 : 1);
const partWeight = 0.6;
const letterWeight = { alone: 0.6, beside: 0.15 } as const;

const hanRun = /\p{Script=Han}+/gu;

const add = (terms: Map<string, number>, term: string, weight: number) =>
  terms.set(term, (terms.get(term) ?? 0) + weight);

/** Latin words, pairs of neighbouring Chinese characters, and single ones with a smaller weight. */
const termsOf = (text: string): Map<string, number> => {
  const terms = new Map<string, number>();
  const plain = searchedLetters(text);
  for (const [word] of plain.matchAll(latinWord)) {
    add(terms, word, latinWeight(word));
    for (const part of word.split(partsOfWord))
      if (part !== word && part.length > 1) add(terms, part, partWeight);
  }
  for (const [run] of plain.matchAll(hanRun)) {
    const letters = Array.from(run);
    letters.forEach((letter, at) => {
      add(terms, letter, letters.length === 1 ? letterWeight.alone : letterWeight.beside);
      const next = letters[at + 1];
      if (next !== undefined) add(terms, letter + next, 1);
    });
  }
  return terms;
};

const queryTerms = (query: string): Map<string, number> => {
  const asked = searchedLetters(query.slice(0, 200));
  const matter = termsOf(asked.replace(idle, ' '));
  return matter.size > 0 ? matter : termsOf(asked);
};

export const createSearch = <T>(
  documents: { item: T; fields: Fields }[],
): ((query: string, most: number) => Hit<T>[]) => {
  const k = 1.2;
  const b = 0.4;
  const prepared = documents.map(({ item, fields }) => {
    const terms = new Map<string, number>();
    for (const name of Object.keys(weights) as (keyof Fields)[])
      for (const [term, count] of termsOf(fields[name])) add(terms, term, count * weights[name]);
    // As a question loses its idle words, so must what is written like one.
    const asked = `${fields.heading} ${fields.keywords}`;
    for (const [term, count] of termsOf(asked.replace(idle, ' ')))
      if (!terms.has(term)) add(terms, term, count * weights.keywords);
    // What stands before the first heading goes by the title.
    const names = squeeze(
      searchedLetters(fields.heading === '' ? `${fields.title} ${asked}` : asked),
    );
    return { item, terms, length: fields.text.length, names };
  });
  const average =
    prepared.reduce((sum, each) => sum + each.length, 0) / (prepared.length || 1) || 1;
  const found = new Map<string, number>();
  for (const { terms } of prepared) for (const term of terms.keys()) add(found, term, 1);
  const rarity = (term: string) => {
    const n = found.get(term) ?? 0;
    return Math.log(1 + (prepared.length - n + 0.5) / (n + 0.5));
  };

  return (question, most) => {
    const query = question.replace(here, '');
    const asked = [...queryTerms(query)].map(([term, weight]) => ({
      term,
      weight: Math.min(weight, 2) * rarity(term),
    }));
    const whole = asked.reduce((sum, each) => sum + each.weight, 0);
    if (whole === 0) return [];
    const hits: Hit<T>[] = [];
    const name = squeeze(searchedLetters(query.slice(0, 40)));
    for (const { item, terms, length, names } of prepared) {
      let score = 0;
      let covered = 0;
      for (const { term, weight } of asked) {
        const count = terms.get(term);
        if (count === undefined) continue;
        covered += weight;
        score += (weight * count * (k + 1)) / (count + k * (1 - b + (b * length) / average));
      }
      // Asked in the very words of a heading.
      if (name.length > 2 && names.includes(name)) score *= 1.5;
      if (covered > 0) hits.push({ item, score, coverage: covered / whole });
    }
    return hits.sort((one, other) => other.score - one.score).slice(0, most);
  };
};
