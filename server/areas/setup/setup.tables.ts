import { boolean, pgTable, text } from 'drizzle-orm/pg-core';
import type { SetupStep, WhoMayJoin } from '#contract/setup.ts';
import { instant } from '#server/db/columns.ts';

/** One row. */
export const setup = pgTable('setup', {
  single: boolean('single').primaryKey().default(true),
  people: text('people').$type<WhoMayJoin>().notNull().default('open'),
  guests: boolean('guests').notNull().default(true),
  payment: boolean('payment').notNull().default(true),
  settled: text('settled').array().$type<SetupStep[]>().notNull().default([]),
  endedAt: instant('ended_at'),
  /** Of the password that was made up for the first owner; null: it was chosen. */
  firstHash: text('first_hash'),
  entryHash: text('entry_hash'),
  entryUntil: instant('entry_until'),
  /** Read by programs of before alone, which may run beside this one. */
  enteredAt: instant('entered_at'),
});
