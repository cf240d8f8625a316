import type { Embedding } from '#contract/embedding.ts';
import type { Executor } from '#server/db/database.ts';
import type { KnowledgeBases } from '../embedding/knowledge-bases.ts';
import { basesFor, findBase, type ProjectRow } from './project.store.ts';
import { filesByIds, findFile } from './training-file.store.ts';

/** The product's own help, which everybody may ask about. */
const helpBase: Embedding = {
  key: 'help',
  name: '鹊桥使用帮助',
  desc: '怎样提问、设置、连接模型：回答都来自本站的帮助页',
  private: 0,
  built_in: true,
  mine: false,
  questions: [
    '怎么连接一个模型？',
    '没有网络能用吗？',
    '怎么把会话导出成 PDF？',
    'token 是怎么算的？',
  ],
};

const view = (row: ProjectRow, userId: number | null): Embedding => ({
  key: row.key,
  name: row.name,
  desc: row.description,
  private: row.private ? 1 : 0,
  built_in: false,
  mine: row.userId === userId,
  questions: row.settings.questions ?? [],
});

/** The knowledge bases that a person may ask about; a visitor without an account has no number. */
const list = async (db: Executor, userId: number | null, query = ''): Promise<Embedding[]> => {
  const words = query.trim().toLowerCase();
  const bases = await basesFor(db, userId, words);
  const help = words === '' || `${helpBase.name}${helpBase.key}`.includes(words) ? [helpBase] : [];
  return [...bases.map((row) => view(row, userId)), ...help];
};

/** The row of a base that this person may ask; null: there is none, or it is not open to them. */
const rowFor = async (
  db: Executor,
  key: string,
  userId: number | null,
): Promise<ProjectRow | null> => {
  const row = await findBase(db, key);
  return row && (!row.private || row.userId === userId) ? row : null;
};

/** The knowledge base of that key; null where there is none or it is not open to this person. */
const find = async (
  db: Executor,
  key: string,
  userId: number | null,
): Promise<Embedding | null> => {
  if (key === helpBase.key) return helpBase;
  const row = await rowFor(db, key, userId);
  return row && view(row, userId);
};

/** Those of these keys that are open to this person. */
const findAll = async (
  db: Executor,
  keys: readonly string[],
  userId: number | null,
): Promise<Embedding[]> => {
  const found = await Promise.all([...new Set(keys)].map((key) => find(db, key, userId)));
  return found.filter((base) => base !== null);
};

/** The knowledge bases among the projects, as those who may ask them see them. */
export const knowledgeBases: KnowledgeBases = {
  list,
  find,
  findAll,
  rowFor,
  fileOf: findFile,
  filesByIds,
};
