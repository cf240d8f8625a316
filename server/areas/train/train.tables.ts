import { boolean, integer, jsonb, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core';
import type { ProjectSettings } from '#contract/train.ts';
import { bigId, bytes, instant, reference, tokens } from '#server/db/columns.ts';
import type { FileContent } from './estimate.ts';
import type { StyleProfile } from '#packages/canvas/style-profile.ts';

export const trainingProjects = pgTable('training_projects', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  key: text('key').notNull(),
  name: text('name').notNull(),
  type: smallint('type').notNull(),
  private: boolean('private').notNull().default(true),
  description: text('description').notNull().default(''),
  settings: jsonb('settings')
    .$type<ProjectSettings>()
    .notNull()
    .default({} as ProjectSettings),
  status: smallint('status').notNull().default(0),
  token: tokens('token').notNull().default(0),
  /** Grows with every change of its passages. */
  revision: integer('revision').notNull().default(0),
  engine: text('engine').notNull().default(''),
  /** The model by which all its passages have their vectors; empty: some have none, or another's. */
  vectors: text('vectors').notNull().default(''),
  /** Not before this is it read again for a model of this machine; null: at once. */
  readAgainAfter: instant('read_again_after'),
  profile: jsonb('profile').$type<Omit<StyleProfile, 'key' | 'label'>>(),
  /** Part of the addresses of its files; another from the day on which it was made private. */
  addressSalt: text('address_salt').notNull().default(''),
  artifactKey: text('artifact_key'),
  artifactName: text('artifact_name').notNull().default(''),
  /** 0: it is of a program that did not count it. */
  artifactSize: tokens('artifact_size').notNull().default(0),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

export const trainingFiles = pgTable('training_files', {
  id: bigId(),
  projectId: reference('project_id').notNull(),
  parentId: reference('parent_id'),
  name: text('name').notNull(),
  kind: text('kind').notNull(),
  storageKey: text('storage_key'),
  size: tokens('size').notNull().default(0),
  hash: text('hash').notNull().default(''),
  status: smallint('status').notNull().default(0),
  token: tokens('token').notNull().default(0),
  totalNum: integer('total_num').notNull().default(0),
  overNum: integer('over_num').notNull().default(0),
  error: text('error').notNull().default(''),
  holdId: uuid('hold_id'),
  /** The channel that is sent its passages for that hold. */
  channelId: reference('channel_id'),
  /** Its owner has not begun it yet. */
  waiting: boolean('waiting').notNull().default(false),
  content: jsonb('content').$type<FileContent>(),
  /** It failed for what it is: another try fails, too. */
  hopeless: boolean('hopeless').notNull().default(false),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

/** Files that are read again from their address. */
export const trainingWatches = pgTable('training_watches', {
  fileId: reference('file_id').primaryKey(),
  url: text('url').notNull(),
  hash: text('hash').notNull(),
  live: boolean('live').notNull().default(true),
  failures: integer('failures').notNull().default(0),
  nextAt: instant('next_at').notNull(),
  readAt: instant('read_at').notNull().defaultNow(),
  changedAt: instant('changed_at'),
  changed: text('changed').notNull().default(''),
  error: text('error').notNull().default(''),
});

/** Keys of projects that were deleted: triggers write and ask them (migration 0537). */
export const trainingKeysUsed = pgTable('training_keys_used', {
  hash: bytes('hash').primaryKey(),
  owner: reference('owner').notNull(),
});

export const trainingLogs = pgTable('training_logs', {
  id: bigId(),
  fileId: reference('file_id').notNull(),
  content: text('content').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

export const trainingSegments = pgTable('training_segments', {
  id: bigId(),
  fileId: reference('file_id').notNull(),
  seq: integer('seq').notNull(),
  source: text('source').notNull(),
  target: text('target').notNull().default(''),
  /** 0 to do, 1 translated, 2 corrected by hand, 3 kept as it is. */
  state: smallint('state').notNull().default(0),
});
