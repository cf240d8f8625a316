import { boolean, integer, jsonb, pgTable, primaryKey, real, text } from 'drizzle-orm/pg-core';
import { bigId, bytes, instant, reference, tokens } from '#server/db/columns.ts';
import type { PageLine } from '#server/reading/layout.ts';
import type { Place } from '#server/reading/place.ts';

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
  /** Its owner switched it off: it is found no more. */
  off: boolean('off').notNull().default(false),
  /** Rises with each change; 0: it is as it was made; -1: an older program may have changed it. */
  version: tokens('version').notNull().default(0),
  /** Rises where its vector alone changed. */
  vectorVersion: tokens('vector_version').notNull().default(0),
});

/** Where the lines stand on pages whose words were read off their picture. */
export const knowledgePages = pgTable(
  'knowledge_pages',
  {
    fileId: reference('file_id').notNull(),
    /** 0: the file is a picture itself. */
    page: integer('page').notNull(),
    /** Degrees by which the page is turned so that its lines are level, as `lines` has them. */
    angle: real('angle').notNull(),
    lines: jsonb('lines').$type<PageLine[]>().notNull(),
  },
  ({ fileId, page }) => [primaryKey({ columns: [fileId, page] })],
);

/** What bases were asked and had nothing on. */
export const knowledgeGaps = pgTable('knowledge_gaps', {
  id: bigId(),
  projectId: reference('project_id').notNull(),
  mark: text('mark').notNull(),
  question: text('question').notNull(),
  asked: integer('asked').notNull().default(1),
  lastAt: instant('last_at').notNull().defaultNow(),
});
