import {
  bigint,
  boolean,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import type { ContactKind, SignInSettings } from '#contract/sign-in.ts';
import { bytes, instant, reference } from '#server/db/columns.ts';

/** One row. */
export const signInSettings = pgTable('sign_in_settings', {
  single: boolean('single').primaryKey().default(true),
  settings: jsonb('settings').$type<Partial<SignInSettings>>().notNull().default({}),
  /** Sealed, as the keys of channels. */
  smtpPassword: bytes('smtp_password'),
  smsSecret: bytes('sms_secret'),
});

export const contacts = pgTable(
  'contacts',
  {
    userId: reference('user_id').notNull(),
    kind: text('kind').$type<ContactKind>().notNull(),
    /** In its normal form. */
    value: text('value').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.kind] })],
);

export type CodePurpose = 'sign_in' | 'reset' | 'bind' | 'old';

export const contactCodes = pgTable('contact_codes', {
  id: uuid('id').primaryKey(),
  purpose: text('purpose').$type<CodePurpose>().notNull(),
  /** Whom it stands for; null: nobody has that address, and nothing was sent. */
  userId: bigint('user_id', { mode: 'number' }),
  targetHash: bytes('target_hash').notNull(),
  codeHash: bytes('code_hash').notNull(),
  tries: integer('tries').notNull().default(0),
  expiresAt: instant('expires_at').notNull(),
  /** Null: it was not sent. */
  sentAt: instant('sent_at'),
  /** It stands for the code of this number, which was on its way already; null: its own. */
  sameAs: uuid('same_as'),
});
