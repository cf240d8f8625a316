import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, reference, tokens } from '../../db/columns.ts';

/** How a channel does. */
export const channelHealth = pgTable('channel_health', {
  channelId: reference('channel_id').primaryKey(),
  successes: tokens('successes').notNull().default(0),
  failures: tokens('failures').notNull().default(0),
  /** ms of the last trial. */
  latency: integer('latency'),
  lastSuccessAt: instant('last_success_at'),
  lastFailureAt: instant('last_failure_at'),
  lastError: text('last_error').notNull().default(''),
});
