import { pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';
import { reference } from '#server/db/columns.ts';

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
