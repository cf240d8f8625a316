import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import * as store from './project.store.ts';
import { findFile } from './training-file.store.ts';

type Person = Pick<Identity, 'id' | 'manager'> | null;

export const noProject = () => new Refusal('not_found', '没有这个项目');
export const noFile = () => new Refusal('not_found', '没有这个文件');

const mayRead = async (
  db: Executor,
  { private: hidden, userId }: Pick<store.ProjectRow, 'private' | 'userId'>,
  user: Person,
): Promise<boolean> =>
  userId === user?.id ||
  user?.manager === true ||
  (!hidden && !(await store.isSuspended(db, userId)));

/**
 * A project that a person may look into; a stranger's private one is as if it were not there.
 * @throws Refusal not_found
 */
export const readableProject = async (db: Executor, id: number, user: Person) => {
  const row = await store.findProject(db, id);
  if (!row || !(await mayRead(db, row, user))) throw noProject();
  return row;
};

/** A file of such a project. @throws Refusal not_found */
export const readableFile = async (db: Executor, id: number, user: Person) => {
  const file = await findFile(db, id);
  if (!file || !(await mayRead(db, file.project, user))) throw noFile();
  return file;
};

/** One's own project. @throws Refusal not_found */
export const ownProject = async (db: Executor, id: number, user: Pick<Identity, 'id'>) => {
  const row = await store.findProject(db, id);
  if (row?.userId !== user.id) throw noProject();
  return row;
};

/** A file of one's own project. @throws Refusal not_found */
export const ownFile = async (db: Executor, id: number, user: Pick<Identity, 'id'>) => {
  const file = await findFile(db, id);
  if (file?.project.userId !== user.id) throw noFile();
  return file;
};

/** Changes one's own project, locked, in a transaction. @throws Refusal not_found */
export const changing = <T>(
  db: Executor,
  id: number,
  user: Pick<Identity, 'id'>,
  act: (tx: Transaction, row: store.ProjectRow) => Promise<T>,
): Promise<T> =>
  inTransaction(db, async (tx) => {
    const row = await store.lockProject(tx, id);
    if (row?.userId !== user.id) throw noProject();
    return act(tx, row);
  });

/**
 * An address is a right until its project is made private, or closed with its owner.
 * @param salt the part of the address that a project's `addressSalt` is
 * @throws Refusal not_found
 */
export const requireAddress = async (
  db: Executor,
  project: store.ProjectRow | null,
  salt: string,
): Promise<void> => {
  if (project?.addressSalt !== salt) throw noFile();
  if (await store.isSuspended(db, project.userId)) throw noFile();
};
