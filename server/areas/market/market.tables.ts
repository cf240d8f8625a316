import {
  boolean,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import type { AppState } from '#contract/market.ts';
import { bigId, instant, reference, tokens } from '#server/db/columns.ts';

export const apps = pgTable('apps', {
  id: bigId(),
  title: text('title').notNull(),
  type: text('type').notNull().default(''),
  /** Who offers it; empty: the service itself. */
  source: text('source').notNull().default(''),
  developer: text('developer').notNull().default(''),
  /** Cents; 0: free. */
  price: integer('price').notNull().default(0),
  coverImageUrl: text('cover_image_url').notNull().default(''),
  images: jsonb('images').$type<string[]>().notNull().default([]),
  mdDescription: text('md_description').notNull().default(''),
  /** Shown as long as nobody has rated it, in halves. */
  firstRating: smallint('first_rating').notNull().default(0),
  closeComment: boolean('close_comment').notNull().default(false),
  state: text('state').$type<AppState>().notNull().default('draft'),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
  publishedAt: instant('published_at'),
});

export const appVersions = pgTable('app_versions', {
  id: bigId(),
  appId: reference('app_id').notNull(),
  version: text('version').notNull(),
  description: text('description').notNull().default(''),
  /** Empty: there is no file yet. */
  fileKey: text('file_key').notNull().default(''),
  fileName: text('file_name').notNull().default(''),
  /** Bytes. */
  codeSize: tokens('code_size').notNull().default(0),
  sha256: text('sha256').notNull().default(''),
  /** A virus scanner looked at the file and found nothing. */
  scanned: boolean('scanned').notNull().default(false),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const appComments = pgTable('app_comments', {
  id: bigId(),
  appId: reference('app_id').notNull(),
  userId: reference('user_id').notNull(),
  versionId: reference('version_id'),
  /** In halves. */
  rating: smallint('rating').notNull(),
  content: text('content').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  editedAt: instant('edited_at'),
});

export const appReports = pgTable(
  'app_reports',
  {
    commentId: reference('comment_id').notNull(),
    userId: reference('user_id').notNull(),
    reason: text('reason').notNull().default(''),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.commentId, table.userId] })],
);

/** The right to download: one row an order, and one for whoever took it while it was free. */
export const appPurchases = pgTable('app_purchases', {
  id: bigId(),
  appId: reference('app_id').notNull(),
  userId: reference('user_id').notNull(),
  orderId: reference('order_id').unique(),
  createdAt: instant('created_at').notNull().defaultNow(),
  revokedAt: instant('revoked_at'),
});

/** Links that were used: each begins one download, and goes on with it for a while. */
export const appDownloads = pgTable('app_downloads', {
  id: bigId(),
  nonce: uuid('nonce').notNull().unique(),
  appId: reference('app_id').notNull(),
  versionId: reference('version_id').notNull(),
  userId: reference('user_id').notNull(),
  ip: text('ip').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});
