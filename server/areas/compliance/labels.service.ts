import { createHash, randomBytes } from 'node:crypto';
import type { Executor } from '#server/db/database.ts';
import type { Aigc } from '#server/labels/aigc.ts';
import { insertLabel, readCompliance } from './compliance.store.ts';
import type { LabelKind } from './compliance.tables.ts';

/** What is made, for whom and by what; of no person: nobody signed in. */
export interface Making {
  kind: LabelKind;
  userId: number | null;
  model: string;
  /** A random key that it has already: made again it keeps its id. */
  key?: string;
}

/**
 * Gives the label of something that a model makes here. Its id is random, and what it stands for is
 * in the database alone: the file names nobody.
 */
export type MakeLabel = (db: Executor, making: Making) => Promise<Aigc>;

export const makeLabel: MakeLabel = async (db, { key, ...making }) => {
  const id =
    key === undefined
      ? randomBytes(16).toString('hex')
      : createHash('sha256').update(`label ${key}`).digest('hex').slice(0, 32);
  const { producer_code: producer, propagator_code: propagator } = await readCompliance(db);
  await insertLabel(db, { id, ...making });
  return {
    Label: '1',
    ContentProducer: producer,
    ProduceID: id,
    ReservedCode1: '',
    ContentPropagator: propagator,
    PropagateID: propagator === '' ? '' : id,
    ReservedCode2: '',
  };
};
