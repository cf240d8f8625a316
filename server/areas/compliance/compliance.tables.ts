import { bigId, bytes, instant } from '#server/db/columns.ts';
import type { AgreementKind } from '#contract/agreement-kinds.ts';
import { bigint, boolean, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Compliance } from '#contract/compliance.ts';

/** One row. */
export const compliance = pgTable('compliance', {
  single: boolean('single').primaryKey().default(true),
  settings: jsonb('settings').$type<Partial<Compliance>>().notNull().default({}),
  /** Of manifests of C2PA, sealed. */
  signingKey: bytes('signing_key'),
});

export type LabelKind = 'image' | 'video' | 'speech' | 'export' | 'translation';

export const labels = pgTable('labels', {
  /** What the label calls it: ProduceID. */
  id: text('id').primaryKey(),
  /** Null: nobody signed in, or the account is gone. */
  userId: bigint('user_id', { mode: 'number' }),
  kind: text('kind').$type<LabelKind>().notNull(),
  model: text('model').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Images that were taken without the words on them, by whom. */
export const unmarkedDownloads = pgTable('unmarked_downloads', {
  id: bigId(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  imageKey: text('image_key').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Texts that people agree to, in all their versions. */
export const agreements = pgTable(
  'agreements',
  {
    kind: text('kind').$type<AgreementKind>().notNull(),
    version: integer('version').notNull(),
    text: text('text').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.version] })],
);

/** Who agreed to what. */
export const consents = pgTable('consents', {
  id: bigId(),
  userId: bigint('user_id', { mode: 'number' }).notNull(),
  kind: text('kind').$type<AgreementKind>().notNull(),
  version: integer('version').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  withdrawnAt: instant('withdrawn_at'),
});
