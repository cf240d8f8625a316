import { bigint, boolean, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '#server/db/columns.ts';
import type { LoopState } from './loop-state.ts';

/** What an answer with calls of tools goes on from, until it ends. */
export const replyLoops = pgTable('reply_loops', {
  historyId: bigint('history_id', { mode: 'number' }).primaryKey(),
  loop: jsonb('loop').$type<LoopState>().notNull(),
});

/** What older messages of a session were condensed into. */
export const sessionSummaries = pgTable('session_summaries', {
  sessionId: bigint('session_id', { mode: 'number' }).primaryKey(),
  text: text('text').notNull(),
  /** Numbers of those messages, oldest first. */
  covered: bigint('covered', { mode: 'number' }).array().notNull(),
  /** Its person wrote in it. */
  edited: boolean('edited').notNull().default(false),
  madeAt: instant('made_at').notNull().defaultNow(),
  /** Nobody pressed for it. */
  auto: boolean('auto').notNull().default(false),
  /** What it took. */
  tokens: bigint('tokens', { mode: 'number' }).notNull().default(0),
});
