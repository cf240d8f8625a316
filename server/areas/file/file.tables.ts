import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { bigId, bytes, instant, reference, tokens } from '#server/db/columns.ts';

/** Files on their way in, piece by piece. */
export const fileUploads = pgTable('file_uploads', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  /** What the person's device calls it: two persons may choose the same. */
  uuid: uuid('uuid').notNull(),
  /** Bytes of the whole, and of what is here. */
  size: tokens('size').notNull(),
  received: tokens('received').notNull().default(0),
  /** When a call took it. */
  usedAt: instant('used_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const filePieces = pgTable('file_pieces', {
  uploadId: reference('upload_id').notNull(),
  /** Bytes before it. */
  at: tokens('at').notNull(),
  data: bytes('data').notNull(),
});

/** Images with words on them, as they lie in the storage. */
export const markedCopies = pgTable('marked_copies', {
  key: text('key').primaryKey(),
  type: text('type').$type<'jpg' | 'png'>().notNull(),
  size: tokens('size').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
