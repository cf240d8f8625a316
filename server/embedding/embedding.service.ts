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

interface Passage {
  /** What it is from, such as a page and its heading. */
  title: string;
  /** Markdown. */
  text: string;
}

/** Share of the question's words that a passage must hold to be about it. */
const enough = 0.3;

/** So many passages go along with a question at most. */
const mostPassages = 4;

/** The passages of a knowledge base that bear most on a question, best first. None where it holds nothing on it. */
const passages = async (_db: Executor, key: string, question: string): Promise<Passage[]> => {
  if (key !== helpBase.key) return [];
  return help()
    .search(question, mostPassages)
    .filter(({ coverage }) => coverage >= enough)
    .map(({ item: { page, heading, text } }) => ({
      title: heading === '' ? page.title : `${page.title} · ${heading}`,
      text,
    }));
};

/** What a model is told about the texts that a knowledge base has on a question. */
export const knowledgeOn = async (
  db: Executor,
  key: string,
  question: string,
  { strict = false } = {},
): Promise<string> => {
  const found = await passages(db, key, question);
  const texts = found.map(({ title, text }, at) => `【资料 ${at + 1}】${title}\n${text}`);
  const rule = strict
    ? '只能依据下面的资料回答；资料里没有答案时，直接说明资料中没有，不要自己补充。'
    : '回答时优先依据下面的资料；资料不够时可以补充，并说明哪些不是资料里的。';
  const whole = texts.length > 0 ? texts.join('\n\n') : '（没有找到与这个问题有关的资料）';
  return `${rule}\n\n${whole}`;
};
