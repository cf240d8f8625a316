import { boolean, integer, pgTable, smallint, text, unique } from 'drizzle-orm/pg-core';
import { bigId, bytes, instant, reference } from '#server/db/columns.ts';

/** Replies as they were read aloud, so that the same is made once. */
export const speeches = pgTable(
  'speeches',
  {
    id: bigId(),
    sessionId: reference('session_id').notNull(),
    historyId: reference('history_id').notNull(),
    model: text('model').notNull(),
    voice: text('voice').notNull(),
    /** Hundredths. */
    speed: smallint('speed').notNull(),
    /** SHA-256 of the words. */
    words: bytes('words').notNull(),
    key: text('key').notNull().unique(),
    mime: text('mime').$type<'audio/mpeg' | 'audio/wav'>().notNull(),
    size: integer('size').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Its session's owner had it made. */
    own: boolean('own').notNull().default(true),
  },
  (table) => [unique().on(table.historyId, table.model, table.voice, table.speed, table.words)],
);
