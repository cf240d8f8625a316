import { boolean, date, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { bigId, instant, reference, tokens } from '#server/db/columns.ts';

export const usageDays = pgTable(
  'usage_days',
  {
    userId: reference('user_id').notNull(),
    /** China's. */
    day: date('day', { mode: 'string' }).notNull(),
    type: smallint('type').notNull(),
    model: text('model').notNull(),
    /** All, and those that took something. */
    requests: integer('requests').notNull().default(0),
    records: integer('records').notNull().default(0),
    promptTokens: tokens('prompt_tokens').notNull().default(0),
    completionTokens: tokens('completion_tokens').notNull().default(0),
    deductTokens: tokens('deduct_tokens').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.userId, table.day, table.type, table.model] })],
);

/** Each use of a model, whatever it cost: what the figures of administration are counted from. */
export const modelUses = pgTable('model_uses', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  type: smallint('type').notNull(),
  model: text('model').notNull(),
  /** What served it; null: what is built in, or not known. */
  channelId: reference('channel_id'),
  /** Nothing was delivered. */
  failed: boolean('failed').notNull().default(false),
  promptTokens: integer('prompt_tokens').notNull().default(0),
  completionTokens: integer('completion_tokens').notNull().default(0),
  deductTokens: tokens('deduct_tokens').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
});
