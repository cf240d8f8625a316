import { pgTable, text } from 'drizzle-orm/pg-core';
import { instant, reference, tokens } from '../../db/columns.ts';

export const invites = pgTable('invites', {
  code: text('code').primaryKey(),
  userId: reference('user_id').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at').notNull(),
});

export const invited = pgTable('invited', {
  userId: reference('user_id').primaryKey(),
  inviterId: reference('inviter_id').notNull(),
  code: text('code').notNull(),
  tokens: tokens('tokens').notNull(),
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
