import { bigint, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { bytes, instant } from '#server/db/columns.ts';

/** The second proof of identity of whoever wants one. */
export const secondFactors = pgTable('second_factors', {
  userId: bigint('user_id', { mode: 'number' }).primaryKey(),
  /** Sealed, as the keys of channels. */
  secret: bytes('secret').notNull(),
  /** SHA-256, in hexadecimal, of codes that work once each. */
  recovery: text('recovery').array().notNull().default([]),
  /** The last time step whose code was used. */
  lastStep: bigint('last_step', { mode: 'number' }).notNull().default(0),
  /** Null: begun, and not yet confirmed. */
  enabledAt: instant('enabled_at'),
});

export const tickets = pgTable('tickets', {
  /** SHA-256 of the ticket. */
  hash: bytes('hash').primaryKey(),
  jti: uuid('jti').notNull(),
  expiresAt: instant('expires_at').notNull(),
  /** Opens the stream of this reply alone; null: one download or stream of any kind. */
  historyId: bigint('history_id', { mode: 'number' }),
});

export const captchas = pgTable('captchas', {
  id: uuid('id').primaryKey(),
  answer: text('answer').notNull(),
  expiresAt: instant('expires_at').notNull(),
});
