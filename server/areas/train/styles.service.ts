import { projectStates } from '#contract/train-limits.ts';
import type { Executor } from '#server/db/database.ts';
import type { StyleProfile } from '#packages/canvas/style-profile.ts';
import { Refusal } from '#server/http/handlers.ts';
import * as store from './project.store.ts';

/** Styles of images that people trained, for those who draw with them. */

/** What of these keys is open to a person. */
const openTo = async (db: Executor, keys: readonly string[], userId: number) =>
  (await store.stylesOfKeys(db, keys)).filter((row) => !row.private || row.userId === userId);

/** Those that a person trained, as the choices of a model. */
export const ownStyles = store.trainedStyles;

/** Those of the keys that are trained styles. @throws Refusal training_unfinished */
export const requireTrained = async (
  db: Executor,
  keys: readonly string[],
  userId: number,
): Promise<string[]> => {
  const found = await openTo(db, keys, userId);
  if (found.some(({ status }) => status !== projectStates.trained))
    throw new Refusal('training_unfinished');
  return found.map(({ key }) => key);
};

/** What is known of trained styles, under the very keys that were asked for. */
export const profilesOf = async (
  db: Executor,
  keys: readonly string[],
  userId: number,
): Promise<StyleProfile[]> => {
  const rows = await openTo(db, keys, userId);
  return keys.flatMap((key) => {
    const row = rows.find((each) => each.key.toLowerCase() === key.toLowerCase());
    return row?.profile ? [{ ...row.profile, key, label: row.name }] : [];
  });
};
