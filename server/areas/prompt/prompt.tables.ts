import { boolean, integer, jsonb, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { bigId, instant, reference } from '../../db/columns.ts';

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
  content: text('content').notNull(),
  sort: integer('sort').notNull().default(1000),
  /** A manager changed it: it is not brought up to date any more. */
  edited: boolean('edited').notNull().default(false),
  createdAt: instant('created_at').notNull().defaultNow(),
  deletedAt: instant('deleted_at'),
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
