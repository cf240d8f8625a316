import { bigint, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bigId, instant, reference } from '#server/db/columns.ts';

export const notices = pgTable('notices', {
  id: bigId(),
  /** Markdown. */
  content: text('content').notNull(),
  codeUrl: text('code_url').notNull().default(''),
  bucketKey: text('bucket_key').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
  /** People see it from then on. */
  publishAt: instant('publish_at').notNull().defaultNow(),
  /** Of its attachment, which lies in the storage at `bucket_key`. */
  fileSize: bigint('file_size', { mode: 'number' }).notNull().default(0),
  fileName: text('file_name').notNull().default(''),
  viewCount: integer('view_count').notNull().default(0),
});

export const noticeReads = pgTable(
  'notice_reads',
  {
    userId: reference('user_id').notNull(),
    noticeId: reference('notice_id').notNull(),
    readAt: instant('read_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.noticeId] })],
);
