import { boolean, integer, jsonb, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import type { KeywordType } from '#contract/image.ts';
import { bigId, instant, reference } from '#server/db/columns.ts';

/** Names of models that a template is offered with, or not. */
export interface TemplateAttrs {
  include: string[];
  exclude: string[];
}

export const promptTemplates = pgTable('prompt_templates', {
  id: bigId(),
  /** Null: everybody's. */
  userId: reference('user_id'),
  type: smallint('type').notNull(),
  attrs: jsonb('attrs').$type<TemplateAttrs>().notNull().default({ include: [], exclude: [] }),
  title: text('title').notNull(),
  /** The title under which it came with the program; null: somebody wrote it. */
  seed: text('seed'),
  content: text('content').notNull(),
  sort: integer('sort').notNull().default(1000),
  /** A manager changed it: it is not brought up to date any more. */
  edited: boolean('edited').notNull().default(false),
  createdAt: instant('created_at').notNull().defaultNow(),
  deletedAt: instant('deleted_at'),
});

/** Words that managers added, and what they changed of the program's own, which keep their number. */
export const imageKeywords = pgTable('image_keywords', {
  id: integer('id').primaryKey().generatedByDefaultAsIdentity({ startWith: 1_000_000 }),
  type: text('type').$type<KeywordType>().notNull(),
  word: text('word').notNull(),
  langZh: text('lang_zh').notNull(),
  dir: text('dir').notNull(),
  subDir: text('sub_dir').notNull(),
  /** Nobody is offered it. */
  removed: boolean('removed').notNull().default(false),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const promptMarks = pgTable(
  'prompt_marks',
  {
    userId: reference('user_id').notNull(),
    promptId: reference('prompt_id').notNull(),
    kind: text('kind').$type<'top' | 'hide'>().notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.promptId, table.kind] })],
);

/** What somebody put first or does not want to see of the keywords for prompts. */
export const keywordMarks = pgTable(
  'keyword_marks',
  {
    userId: reference('user_id').notNull(),
    keywordId: integer('keyword_id').notNull(),
    kind: text('kind').$type<'top' | 'hide'>().notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.keywordId, table.kind] })],
);
