import type { Executor } from '../../db/database.ts';
import * as store from './train.store.ts';

/** Knowledge bases among the projects, as those who may ask them see them. */

export type { ProjectRow } from './train.store.ts';

/** Those that a person may ask, their own first; null stands for a visitor. */
export const basesFor = store.basesFor;

/** The base of a key, whoever asks; null: there is none. */
export const baseOfKey = (db: Executor, key: string) => store.findBase(db, key);

/** The project and the name of a file. */
export const fileWithProject = (db: Executor, fileId: number) => store.findFile(db, fileId);

export const filesByIds = store.filesByIds;
