import { bigint, integer, json, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant, reference } from '#server/db/columns.ts';

/** Responses that programs go on from. */
export const apiResponses = pgTable('api_responses', {
  id: text('id').primaryKey(),
  keyId: reference('key_id').notNull(),
  userId: reference('user_id').notNull(),
  previousId: text('previous_id'),
  createdAt: instant('created_at').notNull().defaultNow(),
  /** What was asked in it and what was answered. */
  items: jsonb('items').notNull(),
  response: jsonb('response').notNull(),
  bytes: integer('bytes').notNull(),
});

/** Files of programs, and what came of their batches. */
export const apiFiles = pgTable('api_files', {
  id: text('id').primaryKey(),
  keyId: reference('key_id').notNull(),
  userId: reference('user_id').notNull(),
  name: text('name').notNull(),
  purpose: text('purpose').notNull(),
  bytes: integer('bytes').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** What such a file holds, in pieces. */
export const apiFileParts = pgTable(
  'api_file_parts',
  {
    fileId: text('file_id').notNull(),
    part: integer('part').notNull(),
    content: text('content').notNull(),
  },
  (table) => [primaryKey({ columns: [table.fileId, table.part] })],
);

export const apiBatches = pgTable('api_batches', {
  id: text('id').primaryKey(),
  keyId: reference('key_id').notNull(),
  userId: reference('user_id').notNull(),
  inputFileId: text('input_file_id').notNull(),
  status: text('status').notNull(),
  metadata: jsonb('metadata').notNull(),
  total: integer('total').notNull(),
  done: integer('done').notNull().default(0),
  failed: integer('failed').notNull().default(0),
  /** Of its lines, and of what they were answered. */
  bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
  answered: bigint('answered', { mode: 'number' }).notNull().default(0),
  outputFileId: text('output_file_id'),
  errorFileId: text('error_file_id'),
  createdAt: instant('created_at').notNull().defaultNow(),
  cancelledAt: instant('cancelled_at'),
  endedAt: instant('ended_at'),
});

/** Chats of a batch that has not ended. */
export const apiBatchLines = pgTable(
  'api_batch_lines',
  {
    batchId: text('batch_id').notNull(),
    line: integer('line').notNull(),
    customId: text('custom_id').notNull(),
    body: json('body').notNull(),
    state: text('state').notNull().default('waiting'),
    instanceId: integer('instance_id'),
    claim: uuid('claim'),
    tries: integer('tries').notNull().default(0),
    notBefore: instant('not_before').notNull().defaultNow(),
    answer: json('answer'),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.line] })],
);
