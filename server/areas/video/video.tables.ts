import { integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { bigId, instant, reference } from '#server/db/columns.ts';

/** Films that jobs made. */
export const videos = pgTable('videos', {
  id: bigId(),
  uuid: uuid('uuid')
    .notNull()
    .unique()
    .default(sql`gen_random_uuid()`),
  userId: reference('user_id').notNull(),
  sessionId: reference('session_id').notNull(),
  historyId: reference('history_id').notNull(),
  jobId: reference('job_id').notNull(),
  /** Random; the name below /files/video/ and in the storage. */
  key: text('key').notNull().unique(),
  mime: text('mime').$type<'video/webm' | 'video/mp4'>().notNull(),
  width: integer('width').notNull(),
  height: integer('height').notNull(),
  /** Ms. */
  duration: integer('duration').notNull(),
  /** Bytes. */
  size: integer('size').notNull(),
  model: text('model').notNull(),
  prompt: text('prompt').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
