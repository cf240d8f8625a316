import {
  bigint,
  boolean,
  date,
  doublePrecision,
  jsonb,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import type { Safety } from '#contract/safety.ts';
import { bigId, bytes, instant } from '#server/db/columns.ts';

export const blockedWords = pgTable('blocked_words', {
  id: bigId(),
  /** Without spaces, in lower case. */
  word: text('word').notNull().unique(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** One row. */
export const safety = pgTable('safety', {
  single: boolean('single').primaryKey().default(true),
  settings: jsonb('settings').$type<Partial<Safety>>().notNull().default({}),
  /** Of the service, sealed. */
  secret: bytes('secret'),
});

export const safetyCases = pgTable('safety_cases', {
  id: bigId(),
  createdAt: instant('created_at').notNull().defaultNow(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  way: text('way').$type<'in' | 'out'>().notNull(),
  kind: text('kind').$type<'text' | 'picture'>().notNull(),
  level: text('level').$type<'review' | 'refuse'>().notNull(),
  by: text('by').notNull(),
  reason: text('reason').notNull(),
  excerpt: text('excerpt').notNull(),
  state: text('state').$type<'open' | 'allowed' | 'confirmed'>().notNull().default('open'),
  appeal: text('appeal').notNull().default(''),
  appealedAt: instant('appealed_at'),
  decidedBy: bigint('decided_by', { mode: 'number' }),
  decidedAt: instant('decided_at'),
  ip: text('ip').notNull().default(''),
});

export const safetyDays = pgTable(
  'safety_days',
  {
    day: date('day').notNull(),
    by: text('by').notNull(),
    checks: bigint('checks', { mode: 'number' }).notNull().default(0),
    characters: bigint('characters', { mode: 'number' }).notNull().default(0),
    reviews: bigint('reviews', { mode: 'number' }).notNull().default(0),
    refusals: bigint('refusals', { mode: 'number' }).notNull().default(0),
    failures: bigint('failures', { mode: 'number' }).notNull().default(0),
    ms: doublePrecision('ms').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.day, table.by] })],
);
