import { boolean, index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { bigId, bytes, reference } from '#server/db/columns.ts';

/** What the messages that came last are found by; session/search-grams.ts says what the numbers mean. */
export const searchFresh = pgTable('search_fresh', {
  historyId: reference('history_id').primaryKey(),
  grams: integer('grams').array().notNull(),
});

/** For each gram and each segment of the messages' numbers which of them have it. */
export const searchPostings = pgTable(
  'search_postings',
  {
    gram: integer('gram').notNull(),
    segment: integer('segment').notNull(),
    ids: bytes('ids').notNull(),
  },
  (table) => [primaryKey({ columns: [table.gram, table.segment] })],
);

/** Sessions whose messages are to go into the queue, a part at a time; a trigger puts them here. */
export const searchSessions = pgTable('search_sessions', {
  id: bigId(),
  sessionId: reference('session_id').notNull(),
  /** The last of its messages that went there. */
  after: reference('after').notNull().default(0),
});

/** Messages that the search knows nothing or old things of; triggers put them here. */
export const searchQueue = pgTable(
  'search_queue',
  {
    id: bigId(),
    historyId: reference('history_id').notNull(),
    /** It was added with hundreds of others: all else goes before. */
    bulk: boolean('bulk').notNull().default(false),
  },
  (table) => [index('search_queue_order').on(table.bulk, table.id)],
);
