import type { Executor, Transaction } from '#server/db/database.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { release } from '../ledger/ledger.service.ts';
import { artifactsOfPerson, filesOfPerson } from './project.store.ts';

/**
 * Somebody goes: what is set aside for their training comes back. Gives what takes the files away,
 * once the rows of their projects are gone.
 */
export const leaveTraining = async (
  tx: Transaction,
  userId: number,
  storage: Storage,
): Promise<() => Promise<void>> => {
  const files = await filesOfPerson(tx, userId);
  for (const { holdId } of files) if (holdId) await release(tx, holdId);
  const keys = [
    ...files.map(({ storageKey }) => storageKey),
    ...(await artifactsOfPerson(tx, userId)),
  ];
  return async () => {
    for (const key of keys) if (key) await storage.delete(key);
  };
};

/** What somebody brought to train on, with the projects' keys. */
export const trainingFilesOf = (db: Executor, userId: number) => filesOfPerson(db, userId);
