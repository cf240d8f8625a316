import type { Executor } from '#server/db/database.ts';
import { upToDate } from './roll-up.store.ts';
import { channelSpending } from './stats.store.ts';

/** Tokens that were spent at each channel in so many days, today with them. */
export const spentByChannel = async (db: Executor, days: number): Promise<Map<number, number>> => {
  await upToDate(db);
  return new Map((await channelSpending(db, days)).map(({ channel, tokens }) => [channel, tokens]));
};
