import { integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { bigId, bytes, reference } from '../../db/columns.ts';
import type { Place } from '../../reading/place.ts';

/** Passages of knowledge bases. */
export const knowledgeChunks = pgTable('knowledge_chunks', {
  id: bigId(),
  projectId: reference('project_id').notNull(),
  fileId: reference('file_id').notNull(),
  seq: integer('seq').notNull(),
  /** 0: the file has no pages. */
  page: integer('page').notNull(),
  heading: text('heading').notNull(),
  /** Empty: of a program that knew pages alone. */
  place: jsonb('place').$type<Place>().notNull().default({}),
  content: text('content').notNull(),
  vector: bytes('vector').notNull(),
  /** What embedded it; empty: what is built in. */
  model: text('model').notNull(),
});
