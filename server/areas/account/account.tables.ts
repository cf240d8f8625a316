import { pgTable, text } from 'drizzle-orm/pg-core';
import { instant, reference, tokens } from '#server/db/columns.ts';

export const invites = pgTable('invites', {
  code: text('code').primaryKey(),
  userId: reference('user_id').notNull(),
  /** Where it was made, and whose network that is; empty: it cannot be told. */
  network: text('network').notNull().default(''),
  provider: text('provider').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at').notNull(),
});

export const invited = pgTable('invited', {
  userId: reference('user_id').primaryKey(),
  inviterId: reference('inviter_id').notNull(),
  code: text('code').notNull(),
  tokens: tokens('tokens').notNull(),
  /** Where they registered, and whose network that is; empty: it cannot be told. */
  network: text('network').notNull().default(''),
  provider: text('provider').notNull().default(''),
  creditedAt: instant('credited_at'),
  /** When it is looked at again whether they were active on enough days; null: nothing is waited for. */
  lookAt: instant('look_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const accountFiles = pgTable('account_files', {
  jobId: reference('job_id').primaryKey(),
  userId: reference('user_id').notNull(),
  /** Random; its name in the storage. */
  key: text('key').notNull(),
  size: tokens('size').notNull(),
  expiresAt: instant('expires_at').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
