import { readFileSync } from 'node:fs';
import type { Parsed } from '#contract/calls.ts';
import { promptTypes } from '#contract/kinds.ts';
import { type PromptTemplate } from '#contract/prompt.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import * as store from './templates.store.ts';

const noTemplate = () => new Refusal('not_found', '没有这个提示词');

export { moveTemplates } from './templates.store.ts';

/** Templates that one person keeps, at most. */
const mostOwn = 300;

/** What is to be filled in in a text: the words in `{{…}}`, each once. */
const varsOf = (content: string): string[] => [
  ...new Set([...content.matchAll(/\{\{([^{}\n]{1,40})\}\}/g)].map(([, name]) => name!.trim())),
];

type Row = Awaited<ReturnType<typeof store.listShared>>['list'][number];

const viewOf = (
  { id, type, attrs, title, content, userId }: Row,
  marks: { top: boolean; hidden: boolean },
): PromptTemplate => ({
  id,
  type,
  attrs: { include: attrs.include, exclude: attrs.exclude },
  prompt_json: { act: title, title, prompt: content, content, vars: varsOf(content) },
  ...marks,
  own: userId !== null,
});

/** @param userId 0: a visitor's */
export const listTemplates = async (
  db: Executor,
  type: number,
  userId: number,
): Promise<PromptTemplate[]> =>
  (await store.listTemplates(db, type, userId)).map((row) =>
    viewOf(row, { top: row.top, hidden: row.hidden }),
  );

/** One that everybody sees, as the log of acts has it; undefined: there is none. */
export const sharedWords = async (db: Executor, id: number | undefined) => {
  const row = id === undefined ? undefined : await store.findShared(db, id);
  return row && { type: row.type, title: row.title, content: row.content };
};

export const listShared = async (db: Executor, input: Parsed<'managePromptList'>) => {
  const { page, page_size: pageSize, type } = input;
  const query = input.query?.trim() || undefined;
  const asked = windowOf(page, pageSize);
  const { list, total } = await store.listShared(db, { type, query }, asked);
  return {
    list: list.map((row) => viewOf(row, { top: false, hidden: false })),
    ...pageOf(total, page, pageSize),
  };
};

/** @param userId whose it is; null: everybody's, for a manager to keep */
export const saveTemplate = async (
  db: Executor,
  userId: number | null,
  { id, type, attrs, prompt_json: words }: Parsed<'savePrompt'>,
): Promise<number> => {
  if (userId !== null && id === undefined && (await store.countOwn(db, userId)) >= mostOwn)
    throw new Refusal('too_many', `最多保存 ${mostOwn} 个自己的提示词，请先删除不用的`);
  const values = { type, attrs, ...words, ...(userId === null ? { edited: true } : {}) };
  const saved = await store.saveTemplate(db, userId, id, values);
  if (saved === null) throw noTemplate();
  return saved;
};

export const removeTemplate = async (
  db: Executor,
  userId: number | null,
  id: number,
): Promise<void> => {
  if (!(await store.removeTemplate(db, userId, id))) throw noTemplate();
};

/** Sets a mark or takes it back; tells whether it is set. */
export const markTemplate = async (
  db: Executor,
  userId: number,
  { id, type }: { id: number; type: number },
  kind: 'top' | 'hide',
): Promise<boolean> => {
  if (!(await store.seesTemplate(db, { id, type, userId }))) throw noTemplate();
  return store.toggleTemplateMark(db, { userId, promptId: id, kind });
};

/** Beside this module in development, beside the bundle in production. */
const readSeeds = (name: keyof typeof promptTypes) => {
  const file = new URL(`./templates/${name}.json`, import.meta.url);
  const rows = JSON.parse(readFileSync(file, 'utf8')) as [title: string, content: string][];
  return rows.map(([title, content], at) => ({
    type: promptTypes[name],
    title,
    content,
    sort: at + 1,
  }));
};

/** Puts the templates that come with the program into the database, where they are new or changed. */
export const seedTemplates = async (db: Database): Promise<void> => {
  await store.putTemplates(db, [...readSeeds('chat'), ...readSeeds('image')]);
};
