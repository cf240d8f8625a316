import {
  bigint,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import type { LineOutcome } from './channel-figures.store.ts';
import { bigId, instant, reference, tokens } from '#server/db/columns.ts';

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
  /** What the service said is left on the account of its key, in its own money. */
  balance: doublePrecision('balance'),
  balanceUnit: text('balance_unit').notNull().default(''),
  balanceAt: instant('balance_at'),
});

/** How each key of each channel did with each model. */
export const channelLines = pgTable(
  'channel_lines',
  {
    channelId: reference('channel_id').notNull(),
    /** A digest of the key, and its last letters. */
    keyMark: text('key_mark').notNull(),
    model: text('model').notNull(),
    keyHint: text('key_hint').notNull().default(''),
    /** The last hundred, newest first. */
    outcomes: jsonb('outcomes').$type<LineOutcome[]>().notNull().default([]),
    asideUntil: instant('aside_until'),
    asideReason: text('aside_reason').notNull().default(''),
    strikes: integer('strikes').notNull().default(0),
    /** Calls that were cut because another one was sooner, and tokens, roughly, that were sent with them. */
    cutCalls: bigint('cut_calls', { mode: 'number' }).notNull().default(0),
    cutTokens: bigint('cut_tokens', { mode: 'number' }).notNull().default(0),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.channelId, table.keyMark, table.model] })],
);

/** Calls that each process has running at a channel that may have so many at once. */
export const channelRunning = pgTable(
  'channel_running',
  {
    channelId: reference('channel_id').notNull(),
    instanceId: integer('instance_id').notNull(),
    running: integer('running').notNull(),
  },
  (table) => [primaryKey({ columns: [table.channelId, table.instanceId] })],
);

/** What clients report of their requests. Times in ms. */
export const modelStats = pgTable('model_stats', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  model: text('model').notNull(),
  state: text('state').$type<'success' | 'error' | 'stop'>().notNull(),
  firstTime: integer('first_time').notNull(),
  time: integer('time').notNull(),
  requestTime: instant('request_time').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
