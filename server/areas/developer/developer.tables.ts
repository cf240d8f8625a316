import { date, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { bigId, bytes, instant, reference, tokens } from '../../db/columns.ts';

export const apiKeys = pgTable('api_keys', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  /** SHA-256 of the key without the account's number; null once it is deleted. */
  hash: bytes('hash').unique(),
  /** The key itself, encrypted; null: it is not kept. */
  sealed: bytes('sealed'),
  /** First and last ten characters. */
  mask: text('mask').notNull(),
  name: text('name').notNull().default(''),
  monthLimit: tokens('month_limit'),
  models: text('models').array().notNull().default([]),
  addresses: text('addresses').array().notNull().default([]),
  expiresAt: instant('expires_at'),
  lastUsedAt: instant('last_used_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
  deletedAt: instant('deleted_at'),
});

/** What a key spent in a month, and what is set aside for its calls that run. */
export const apiKeyMonths = pgTable(
  'api_key_months',
  {
    keyId: reference('key_id').notNull(),
    month: date('month').notNull(),
    used: tokens('used').notNull().default(0),
    reserved: tokens('reserved').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.month] })],
);

export const apiReservations = pgTable('api_reservations', {
  id: uuid('id').primaryKey(),
  keyId: reference('key_id').notNull(),
  month: date('month').notNull(),
  reserved: tokens('reserved').notNull(),
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
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day, table.model] })],
);

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
