import { pgTable, text } from 'drizzle-orm/pg-core';
import { bigId, instant } from '#server/db/columns.ts';

export const blockedWords = pgTable('blocked_words', {
  id: bigId(),
  /** Without spaces, in lower case. */
  word: text('word').notNull().unique(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
