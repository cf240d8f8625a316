import type { Embedding } from '#contract/embedding.ts';
import type { Executor } from '#server/db/database.ts';

/** A base whose passages are searched. */
export interface BaseRow {
  id: number;
  /** Grows with each change of its passages. */
  revision: number;
  settings: { instruction?: string };
}

/** A file that passages were made of. */
export interface FileOfBase {
  name: string;
  kind: string;
  storageKey: string | null;
  project: { key: string; name: string; userId: number };
}

/** Who may ask what; `userId`: null stands for a visitor. */
export interface KnowledgeBases {
  /** Those that a person may ask, their own first. */
  list: (db: Executor, userId: number | null, query?: string) => Promise<Embedding[]>;
  /** Null where there is none, or it is not open to this person. */
  find: (db: Executor, key: string, userId: number | null) => Promise<Embedding | null>;
  /** Those of these keys that are open to this person. */
  findAll: (db: Executor, keys: readonly string[], userId: number | null) => Promise<Embedding[]>;
  /** Of one with passages of its own; null as with `find`. */
  rowFor: (db: Executor, key: string, userId: number | null) => Promise<BaseRow | null>;
  fileOf: (db: Executor, fileId: number) => Promise<FileOfBase | null>;
  filesByIds: (db: Executor, ids: readonly number[]) => Promise<{ id: number; name: string }[]>;
}
