import { pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';
import { instant, reference } from '#server/db/columns.ts';

/** What people think of an image: 1 likes it, -1 does not; nobody has two votes. */
export const imageVotes = pgTable(
  'image_votes',
  {
    imageId: reference('image_id').notNull(),
    userId: reference('user_id').notNull(),
    vote: smallint('vote').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.imageId, table.userId] })],
);
