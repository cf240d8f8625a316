import { tableRow } from '#common/table-row.ts';
import type { Reading } from './question.ts';
import { relevanceOf, searchedText } from './relevance.ts';

/** The sentences of passages that answer a question, in their own words. */

/** A passage, with what a reading of the question asks for of it. */
export interface Quotable {
  heading: string;
  content: string;
  reading: Reading;
  /** Of the reading's slots, by their rarity among the passages. */
  values: readonly number[];
}

/** Sentences that are quoted of all passages together. */
const mostSentences = 3;
/** Letters of one that are quoted. */
const mostLetters = 300;
/** What words of the heading above a sentence count beside its own. */
const ofHeading = 0.6;
const ofRun = 0.4;
/** What a number counts where one is asked for. */
const ofNumber = 0.15;
/** A sentence behind the best one goes along with it, and one of another passage stands beside it, from these shares of its score on. */
const goesAlong = 0.75;
const standsBeside = 0.8;

const asksNumber =
  /多少|几|多久|多长|多大|多高|多远|何时|什么时候|哪[天年月]|电话|号码|价格|how (?:many|much|long|old)|when/i;
const number = /\d|[一二三四五六七八九十百千万两半]/;
const sentence = /[^。！？!?；;]+[。！？!?；;]*[”’"'）)】」』]*/g;
const headingLine = /^#{1,6}\s+(.*)$/;
/** What wants the words behind it: a question, or what ends in a colon. */
const leadsOn = /[？?：:]\s*$/;

interface Sentence {
  text: string;
  /** A row of a table: the next one is about something else. */
  row: boolean;
  score: number;
}

const sentencesOf = ({ heading, content, reading, values }: Quotable): Sentence[] => {
  const counts = asksNumber.test(reading.text);
  const covers = (words: string) => relevanceOf(reading, values, searchedText(words));
  const found: Sentence[] = [];
  let above = heading;
  for (const line of content.split('\n')) {
    const title = headingLine.exec(line.trim())?.[1];
    if (title !== undefined) {
      above = `${heading} ${title}`;
      continue;
    }
    const parts = tableRow.test(line) ? [line] : (line.match(sentence) ?? []);
    for (const part of parts) {
      const text = part.trim();
      if (!/[\p{L}\p{N}]/u.test(text)) continue;
      const own = covers(text);
      const both = covers(`${above}\n${text}`);
      found.push({
        text,
        row: part === line && tableRow.test(line),
        score:
          own.coverage +
          own.run * ofRun +
          (both.coverage - own.coverage) * ofHeading +
          (counts && number.test(text) ? ofNumber : 0),
      });
    }
  }
  return found;
};

/** Where the sentences that answer begin and end among those of a passage. */
const stretch = (sentences: readonly Sentence[], most: number): [from: number, to: number] => {
  let from = 0;
  for (const [at, { score }] of sentences.entries())
    if (score > (sentences[from]?.score ?? 0)) from = at;
  const best = sentences[from]?.score ?? 0;
  let to = from + 1;
  while (to - from < most) {
    const next = sentences[to];
    const along =
      leadsOn.test(sentences[to - 1]?.text ?? '') || (next?.score ?? 0) >= best * goesAlong;
    if (!next || !along || sentences[from]?.row) break;
    to += 1;
  }
  return [from, to];
};

const short = (text: string): string =>
  text.length > mostLetters ? `${text.slice(0, mostLetters)}……` : text;

/**
 * Of each passage the sentences to quote, in their order; empty: others say it better.
 * `weight`: how well the passage as a whole fits.
 */
export const quotesOf = (passages: readonly (Quotable & { weight: number })[]): string[] => {
  const parts = passages.map((passage) => {
    const sentences = sentencesOf(passage);
    const [from, to] = stretch(sentences, mostSentences);
    const score = (sentences[from]?.score ?? 0) * passage.weight;
    return { texts: sentences.slice(from, to), score };
  });
  const best = Math.max(0, ...parts.map(({ score }) => score));
  const order = parts
    .map((part, at) => ({ ...part, at }))
    .filter(({ score }) => score > 0 && score >= best * standsBeside)
    .sort((one, other) => other.score - one.score || one.at - other.at);
  const quotes = parts.map(() => '');
  let left = mostSentences;
  const said = new Set<string>();
  for (const { texts, at } of order) {
    const fresh = texts.slice(0, left).filter(({ text }) => !said.has(text));
    for (const { text } of fresh) said.add(text);
    left -= fresh.length;
    quotes[at] = fresh.map(({ text }) => short(text)).join('');
  }
  return quotes;
};
