import type { Answer } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { readCompliance } from './compliance.store.ts';

export type ThirdParty = Answer<'thirdParties'>['list'][number];
/** Those that one area of the product gives data to. */
export type ListParties = (db: Executor) => Promise<ThirdParty[]>;

/** Who gets what of people's data, and what for; nothing where the operator does not show it. */
export const thirdParties = async (
  db: Executor,
  lists: readonly ListParties[],
): Promise<Answer<'thirdParties'>> => {
  if ((await readCompliance(db)).show_third_parties !== 1) return { shown: false, list: [] };
  const list: ThirdParty[] = [];
  for (const parties of lists) list.push(...(await parties(db)));
  return { shown: true, list };
};
