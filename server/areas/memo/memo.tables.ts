import { pgTable, text } from 'drizzle-orm/pg-core';
import { bigId, instant, reference } from '../../db/columns.ts';

export const memos = pgTable('memos', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  text: text('text').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
