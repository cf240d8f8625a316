import * as z from 'zod/mini';
import { call, id, text, time, wholeNumber } from './call.ts';

/** A knowledge base: texts that a question's passages are looked up in. */
export const embedding = z.object({
  key: z.string(),
  name: z.string(),
  desc: z.string(),
  private: z.int(),
  built_in: z.boolean(),
  /** It is one's own. */
  mine: z.boolean(),
  /** Questions to begin with. */
  questions: z.array(z.string()),
});
export type Embedding = z.output<typeof embedding>;

/** A passage that an answer was given to rest on, by its number there. */
export const source = z.object({
  n: z.int(),
  /** Of the file or the page of the help. */
  title: z.string(),
  /** Where in it, in words; empty: it has no parts. */
  place: z.string(),
  /** Name of its knowledge base. */
  base: z.string(),
});
export type Source = z.output<typeof source>;

/** A source with the text that it had when it was asked, as it is kept. */
export interface StoredSource extends Source {
  /** Of the passage; 0: of what comes with the program. */
  id: number;
  key: string;
  url: string;
  text: string;
  /** Words of the question that it holds. */
  terms: string[];
  /** Of a page of the web when it was read; left out: it is none, or nobody noted it. */
  at?: string;
}

/** A passage that was found, and why. Shares are 0 to 1. */
export const foundPassage = z.object({
  /** 0: of what comes with the program. */
  id: z.int(),
  title: z.string(),
  text: z.string(),
  /** Path of this page that shows it in its place. */
  url: z.string(),
  score: z.number(),
  /** Its rank by words and by likeness, from 1; 0: not among the best there. */
  words_rank: z.int(),
  vector_rank: z.int(),
  /** How much of what was asked is in it. */
  coverage: z.number(),
  /** Words of the question that it holds. */
  terms: z.array(z.string()),
  /** A question would take it along. */
  used: z.boolean(),
  /** It is likely to answer: where none does, there is no answer in the base. */
  fits: z.boolean(),
});
export type FoundPassage = z.output<typeof foundPassage>;

/** Where a passage stands in its file; what the file has none of is left out. From 1. */
const stands = z.object({
  page: z.optional(z.int()),
  slide: z.optional(z.int()),
  sheet: z.optional(z.string()),
  /** Of a sheet or a table, and the last of several. */
  row: z.optional(z.int()),
  to_row: z.optional(z.int()),
});

export const drawnPage = z.object({
  /** A WebP as a data: address. */
  picture: z.string(),
  width: z.int(),
  height: z.int(),
  /** What is written on it and where, in shares of its width and height; of a scanned page nothing. */
  lines: z.array(
    z.object({
      text: z.string(),
      x: z.number(),
      y: z.number(),
      width: z.number(),
      height: z.number(),
    }),
  ),
});
export type DrawnLine = z.output<typeof drawnPage>['lines'][number];

export const embeddingCalls = {
  replySource: call({
    method: 'GET',
    path: '/api/reply_source',
    access: 'public',
    summary: '一个回答所依据的一段资料：当时的文字，与它现在前后的文字',
    input: z.object({ history_id: id, n: wholeNumber(1, 99) }),
    output: z.extend(source, {
      text: z.string(),
      terms: z.array(z.string()),
      before: z.string(),
      after: z.string(),
      /**
       * Path of this page that shows it in its place; empty: it is there no more, or reads otherwise.
       * Of a page of the web its address.
       */
      url: z.string(),
      /** Of a page of the web when it was read; null: it is none, or nobody noted it. */
      at: z.nullable(time),
      stands,
      /** The passage whose page can be seen (`passagePage`); 0: it cannot. */
      drawn: z.int(),
    }),
    codes: ['private_session', 'session_deleted', 'embedding_missing'],
  }),
  embeddingList: call({
    method: 'GET',
    path: '/api/embedding_list',
    access: 'public',
    summary: '可以提问的知识库：自己的、公开的与内置的',
    input: z.object({ query: z.optional(text(100)) }),
    output: z.object({ list: z.array(embedding) }),
  }),
  passageTokens: call({
    method: 'GET',
    path: '/api/passage_tokens',
    access: 'public',
    summary: '一个问题会从知识库带上的资料，大约多少 token；按问题的前 200 个字查找',
    input: z.object({ embedding_key: text(64), question: text(200) }),
    output: z.object({ tokens: z.int() }),
    codes: ['embedding_missing'],
  }),
  askKnowledge: call({
    method: 'GET',
    path: '/api/train/ask',
    access: 'public',
    summary: '试着问一个知识库：找到了哪些段落，为什么是它们',
    input: z.object({ embedding_key: text(64), question: text(200) }),
    output: z.object({ list: z.array(foundPassage), milliseconds: z.number() }),
    codes: ['embedding_missing'],
  }),
  knowledgePassage: call({
    method: 'GET',
    path: '/api/train/passage',
    access: 'public',
    summary: '一段资料和它前后的文字',
    input: z.object({ id }),
    output: z.object({
      name: z.string(),
      file: z.string(),
      place: z.string(),
      before: z.string(),
      text: z.string(),
      after: z.string(),
      stands,
      /** The passage whose page can be seen (`passagePage`); 0: it cannot. */
      drawn: z.int(),
    }),
  }),
  passagePage: call({
    method: 'GET',
    path: '/api/train/passage_page',
    access: 'public',
    summary: '一段资料所在的原页：它的图，和图上的字在哪里',
    input: z.object({ id }),
    output: drawnPage,
  }),
};
