import type { Embedding } from '../../contract/embedding.ts';
import type { Executor } from '../db/database.ts';
import { help } from '../help/help.service.ts';

/** A knowledge base as somebody sees it who may ask about it. */
export type KnowledgeBase = Embedding;

/** The product's own help, which everybody may ask about. */
const helpBase: KnowledgeBase = {
  key: 'help',
  name: '鹊桥使用帮助',
  desc: '怎样提问、设置、连接模型：回答都来自本站的帮助页',
  private: 0,
  built_in: true,
};

/** The knowledge bases that a person may ask about; a visitor without an account has no number. */
export const list = async (_db: Executor, _userId: number | null): Promise<KnowledgeBase[]> => [
  helpBase,
];

/** The knowledge base of that key; null where there is none or it is not open to this person. */
export const find = async (
  db: Executor,
  key: string,
  userId: number | null,
): Promise<KnowledgeBase | null> =>
  (await list(db, userId)).find((base) => base.key === key) ?? null;

export interface Passage {
  /** What it is from, such as a page and its heading. */
  title: string;
  /** Markdown. */
  text: string;
}

/** Share of the question's words that a passage must hold to be about it. */
const enough = 0.3;

/**
 * The passages of a knowledge base that bear most on a question, best first, at most `most`. None
 * where it holds nothing on it.
 */
export const passages = async (
  _db: Executor,
  key: string,
  question: string,
  most: number,
): Promise<Passage[]> => {
  if (key !== helpBase.key) return [];
  return help()
    .search(question, most)
    .filter(({ coverage }) => coverage >= enough)
    .map(({ item: { page, heading, text } }) => ({
      title: heading === '' ? page.title : `${page.title} · ${heading}`,
      text,
    }));
};
