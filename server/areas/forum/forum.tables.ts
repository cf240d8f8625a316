import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { NewsKind, ReportReason } from '#contract/forum.ts';
import { bigId, instant, reference } from '#server/db/columns.ts';

export const forumGroups = pgTable('forum_groups', {
  id: bigId(),
  name: text('name').notNull().unique(),
  color: text('color').notNull().default('#2563eb'),
  sort: integer('sort').notNull().default(100),
});

/** Who answered where. */
export const forumReplies = pgTable(
  'forum_replies',
  {
    userId: reference('user_id').notNull(),
    sessionId: reference('session_id').notNull(),
    at: instant('at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.sessionId] })],
);

/** Which models answered where. */
export const forumModels = pgTable(
  'forum_models',
  {
    model: text('model').notNull(),
    sessionId: reference('session_id').notNull(),
    at: instant('at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.model, table.sessionId] })],
);

/** What somebody has looked at. */
export const forumVisits = pgTable(
  'forum_visits',
  {
    userId: reference('user_id').notNull(),
    sessionId: reference('session_id').notNull(),
    at: instant('at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.sessionId] })],
);

/** How many people have looked at a question. */
export const questionViews = pgTable('question_views', {
  sessionId: reference('session_id').primaryKey(),
  people: integer('people').notNull(),
});

/** What a message to people said before it was changed. */
export const messageEdits = pgTable('message_edits', {
  id: bigId(),
  historyId: reference('history_id').notNull(),
  title: text('title').notNull(),
  human: text('human').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Images that a message names, and those that its text showed before; a trigger notes them, too. */
export const messageImages = pgTable(
  'message_images',
  {
    key: text('key').notNull(),
    historyId: reference('history_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.historyId] })],
);

/** What somebody is told; at most one of a kind and session is unread. */
export const news = pgTable('news', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  kind: text('kind').$type<NewsKind>().notNull(),
  sessionId: reference('session_id').notNull(),
  historyId: reference('history_id'),
  actorId: reference('actor_id').notNull(),
  count: integer('count').notNull().default(1),
  /** Empty since the words are read with the message that they are of. */
  excerpt: text('excerpt').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
  readAt: instant('read_at'),
});

export const reports = pgTable('reports', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  sessionId: reference('session_id').notNull(),
  /** 0: the question as a whole. */
  historyId: reference('history_id').notNull().default(0),
  reason: text('reason').$type<ReportReason>().notNull(),
  note: text('note').notNull().default(''),
  excerpt: text('excerpt').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
  resolvedAt: instant('resolved_at'),
  resolvedBy: reference('resolved_by'),
  removed: boolean('removed').notNull().default(false),
});
