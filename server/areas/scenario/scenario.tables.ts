import { boolean, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { bigId, instant, reference } from '#server/db/columns.ts';

/** What those who used a scenario think of it, 1 to 5. */
export const scenarioRatings = pgTable(
  'scenario_ratings',
  {
    scenarioId: reference('scenario_id').notNull(),
    userId: reference('user_id').notNull(),
    stars: smallint('stars').notNull(),
  },
  (table) => [primaryKey({ columns: [table.scenarioId, table.userId] })],
);

export const scenarioCategories = pgTable('scenario_categories', {
  id: bigId(),
  name: text('name').notNull().unique(),
  sort: integer('sort').notNull().default(100),
});

export const scenarios = pgTable('scenarios', {
  id: bigId(),
  categoryId: reference('category_id').notNull(),
  /** Null: came with the program. */
  userId: reference('user_id'),
  name: text('name').notNull(),
  color: text('color').notNull().default('#2563eb'),
  description: text('description').notNull().default(''),
  prompt: text('prompt').notNull(),
  /** What it gives, for whoever looks at it; empty: nobody wrote it. */
  sample: text('sample').notNull().default(''),
  display: boolean('display').notNull().default(true),
  sessionCount: integer('session_count').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
  state: text('state').$type<'private' | 'pending' | 'public'>().notNull().default('public'),
  /** Why a manager gave it back; empty: nobody did. */
  rejection: text('rejection').notNull().default(''),
  /** A manager changed what came with the program: it is not brought up to date any more. */
  edited: boolean('edited').notNull().default(false),
  deletedAt: instant('deleted_at'),
});
