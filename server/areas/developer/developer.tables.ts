import { sql } from 'drizzle-orm';
import { boolean, date, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { bigId, bytes, instant, reference, tokens } from '#server/db/columns.ts';

/** How much of something a key may use in a while. */
export interface Bound {
  per: 'minute' | 'day' | 'week' | 'month';
  /** Requests; tokens as they are counted; tokens of money that are taken. */
  unit: 'requests' | 'tokens' | 'taken';
  most: number;
}

export const apiKeys = pgTable('api_keys', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  /** SHA-256 of the key without the account's number; null once it is deleted. */
  hash: bytes('hash').unique(),
  /** The same of the secret before the last change of it, and until when it opens something. */
  oldHash: bytes('old_hash').unique(),
  oldUntil: instant('old_until'),
  /** The key itself, encrypted; null: it is not kept. */
  sealed: bytes('sealed'),
  /** First and last ten characters. */
  mask: text('mask').notNull(),
  name: text('name').notNull().default(''),
  usedFor: text('used_for').notNull().default(''),
  /** Its owner switched it off. */
  paused: boolean('paused').notNull().default(false),
  monthLimit: tokens('month_limit'),
  /** Calls that may run at a time; null: as many as come. */
  atOnce: integer('at_once'),
  /** Tokens of one call, prompt and answer together; null: as the model has it. */
  callTokens: integer('call_tokens'),
  /** Requests and answers are kept with the log of its calls. */
  logBodies: boolean('log_bodies').notNull().default(false),
  models: text('models').array().notNull().default([]),
  addresses: text('addresses').array().notNull().default([]),
  expiresAt: instant('expires_at'),
  lastUsedAt: instant('last_used_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
  deletedAt: instant('deleted_at'),
});

/** Bounds of a key beside its month's tokens. */
export const apiKeyLimits = pgTable(
  'api_key_limits',
  {
    keyId: reference('key_id').notNull(),
    per: text('per').$type<Bound['per']>().notNull(),
    unit: text('unit').$type<Bound['unit']>().notNull(),
    most: tokens('most').notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.per, table.unit] })],
);

/** What is set aside for calls that run under a key with bounds. */
export const apiRunning = pgTable('api_running', {
  id: uuid('id').primaryKey(),
  keyId: reference('key_id').notNull(),
  instanceId: integer('instance_id').notNull(),
  begunAt: instant('begun_at')
    .notNull()
    .default(sql`clock_timestamp()`),
  endedAt: instant('ended_at'),
  tokens: tokens('tokens').notNull(),
  taken: tokens('taken').notNull(),
  expiresAt: instant('expires_at').notNull(),
});

export const apiUsage = pgTable(
  'api_usage',
  {
    keyId: reference('key_id').notNull(),
    /** By the clock of Beijing. */
    day: date('day').notNull(),
    model: text('model').notNull(),
    userId: reference('user_id').notNull(),
    count: integer('count').notNull().default(0),
    promptTokens: tokens('prompt_tokens').notNull().default(0),
    completionTokens: tokens('completion_tokens').notNull().default(0),
    deductPrompt: tokens('deduct_prompt').notNull().default(0),
    deductCompletion: tokens('deduct_completion').notNull().default(0),
    /** Of the prompts, read from a cache; of the answers, thought. */
    cachedTokens: tokens('cached_tokens').notNull().default(0),
    reasoningTokens: tokens('reasoning_tokens').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day, table.model] })],
);

/** What was asked with keys, for their owners. */
export const apiCalls = pgTable('api_calls', {
  id: uuid('id').primaryKey(),
  keyId: reference('key_id').notNull(),
  userId: reference('user_id').notNull(),
  begunAt: instant('begun_at').notNull(),
  path: text('path').notNull(),
  model: text('model').notNull(),
  status: integer('status').notNull(),
  /** What was wrong, as the program was told; empty: nothing. */
  failure: text('failure').notNull(),
  /** Until the head of the answer and until its end. */
  firstMs: integer('first_ms').notNull(),
  ms: integer('ms').notNull(),
  promptTokens: tokens('prompt_tokens').notNull(),
  cachedTokens: tokens('cached_tokens').notNull(),
  completionTokens: tokens('completion_tokens').notNull(),
  reasoningTokens: tokens('reasoning_tokens').notNull(),
  deductTokens: tokens('deduct_tokens').notNull(),
  /** Null: their owner does not want them kept. */
  request: text('request'),
  answer: text('answer'),
});

/** Works that programs began, until what they took is counted. */
export const apiJobs = pgTable('api_jobs', {
  jobUuid: uuid('job_uuid').primaryKey(),
  /** Of the reservation. */
  chargeId: uuid('charge_id').notNull(),
  keyId: reference('key_id').notNull(),
  userId: reference('user_id').notNull(),
  model: text('model').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
