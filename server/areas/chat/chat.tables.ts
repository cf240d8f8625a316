import { bigint, jsonb, pgTable } from 'drizzle-orm/pg-core';
import type { LoopState } from './loop-state.ts';

/** What an answer with calls of tools goes on from, until it ends. */
export const replyLoops = pgTable('reply_loops', {
  historyId: bigint('history_id', { mode: 'number' }).primaryKey(),
  loop: jsonb('loop').$type<LoopState>().notNull(),
});
