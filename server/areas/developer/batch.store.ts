import { sql } from 'drizzle-orm';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { apiBatches, apiBatchLines, apiFiles } from './batch.tables.ts';

/** Files and batches of keys. Another key's are as if they were not there. */

export interface FileRow extends Record<string, unknown> {
  id: string;
  name: string;
  purpose: string;
  bytes: number;
  at: number;
}

const fileFields = sql.raw(
  'id, name, purpose, bytes, floor(extract(epoch FROM created_at))::float8 AS at',
);

export const insertFile = async (
  db: Executor,
  file: {
    id: string;
    keyId: number;
    userId: number;
    name: string;
    purpose: string;
    content: string;
  },
): Promise<FileRow> => {
  const { id, keyId, userId, name, purpose, content } = file;
  const { rows } = await db.execute<FileRow>(sql`
    INSERT INTO api_files (id, key_id, user_id, name, purpose, content, bytes)
    VALUES (${id}, ${keyId}, ${userId}, ${name}, ${purpose}, ${content}, ${Buffer.byteLength(content)})
    RETURNING ${fileFields}`);
  return rows[0]!;
};

/** Bytes and number of the files of a person. */
export const filesHeld = async (db: Executor, userId: number) => {
  const { rows } = await db.execute<{ bytes: number; count: number }>(sql`
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes, count(*)::int AS count FROM api_files
    WHERE user_id = ${userId}`);
  return rows[0] ?? { bytes: 0, count: 0 };
};

type Listed = 'api_files' | 'api_batches';

/** Newest first, from the one after `after` on. */
const pageOf = (table: Listed, keyId: number, after: string | undefined, most: number) => {
  const name = sql.raw(table);
  const from = after
    ? sql`AND (created_at, id) < (SELECT created_at, id FROM ${name} WHERE id = ${after} AND key_id = ${keyId})`
    : sql``;
  return sql`FROM ${name} WHERE key_id = ${keyId} ${from} ORDER BY created_at DESC, id DESC LIMIT ${most}`;
};

export const filesOf = async (
  db: Executor,
  keyId: number,
  after: string | undefined,
  most: number,
): Promise<FileRow[]> =>
  (await db.execute<FileRow>(sql`SELECT ${fileFields} ${pageOf('api_files', keyId, after, most)}`))
    .rows;

export const findFile = async (db: Executor, keyId: number, id: string): Promise<FileRow | null> =>
  (
    await db.execute<FileRow>(
      sql`SELECT ${fileFields} FROM api_files WHERE id = ${id} AND key_id = ${keyId}`,
    )
  ).rows[0] ?? null;

export const contentOf = async (db: Executor, keyId: number, id: string): Promise<string | null> =>
  (
    await db.execute<{ content: string }>(
      sql`SELECT content FROM api_files WHERE id = ${id} AND key_id = ${keyId}`,
    )
  ).rows[0]?.content ?? null;

export const removeFile = async (db: Executor, keyId: number, id: string): Promise<boolean> =>
  ((await db.execute(sql`DELETE FROM api_files WHERE id = ${id} AND key_id = ${keyId}`)).rowCount ??
    0) > 0;

export interface BatchRow extends Record<string, unknown> {
  id: string;
  input_file_id: string;
  status: 'in_progress' | 'cancelling' | 'completed' | 'cancelled' | 'expired';
  metadata: Record<string, string>;
  total: number;
  done: number;
  failed: number;
  output_file_id: string | null;
  error_file_id: string | null;
  at: number;
  cancelled: number | null;
  ended: number | null;
}

const batchFields = sql.raw(`id, input_file_id, status, metadata, total, done, failed,
  output_file_id, error_file_id, floor(extract(epoch FROM created_at))::float8 AS at,
  floor(extract(epoch FROM cancelled_at))::float8 AS cancelled,
  floor(extract(epoch FROM ended_at))::float8 AS ended`);

export interface NewLine {
  custom_id: string;
  body: object;
}

export const insertBatch = async (
  tx: Transaction,
  batch: { id: string; keyId: number; userId: number; fileId: string; metadata: object },
  lines: readonly NewLine[],
): Promise<BatchRow> => {
  const { id, keyId, userId, fileId, metadata } = batch;
  const { rows } = await tx.execute<BatchRow>(sql`
    INSERT INTO api_batches (id, key_id, user_id, input_file_id, status, metadata, total)
    VALUES (${id}, ${keyId}, ${userId}, ${fileId}, 'in_progress', ${JSON.stringify(metadata)}::jsonb,
      ${lines.length})
    RETURNING ${batchFields}`);
  await tx.execute(sql`
    INSERT INTO api_batch_lines (batch_id, line, custom_id, body)
    SELECT ${id}, line, each ->> 'custom_id', each -> 'body'
    FROM jsonb_array_elements(${JSON.stringify(lines)}::jsonb) WITH ORDINALITY AS given (each, line)`);
  return rows[0]!;
};

/** Lines of a person that are not done yet. */
export const linesOpen = async (db: Executor, userId: number): Promise<number> =>
  (
    await db.execute<{ count: number }>(sql`
      SELECT coalesce(sum(total - done - failed), 0)::int AS count FROM api_batches
      WHERE user_id = ${userId} AND ended_at IS NULL`)
  ).rows[0]?.count ?? 0;

export const batchesOf = async (
  db: Executor,
  keyId: number,
  after: string | undefined,
  most: number,
): Promise<BatchRow[]> =>
  (
    await db.execute<BatchRow>(
      sql`SELECT ${batchFields} ${pageOf('api_batches', keyId, after, most)}`,
    )
  ).rows;

export const findBatch = async (
  db: Executor,
  keyId: number,
  id: string,
): Promise<BatchRow | null> =>
  (
    await db.execute<BatchRow>(
      sql`SELECT ${batchFields} FROM api_batches WHERE id = ${id} AND key_id = ${keyId}`,
    )
  ).rows[0] ?? null;

/** What is not begun is done no more. */
export const cancelBatch = async (db: Executor, keyId: number, id: string): Promise<void> => {
  await db.execute(sql`
    UPDATE api_batches SET status = 'cancelling', cancelled_at = now()
    WHERE id = ${id} AND key_id = ${keyId} AND status = 'in_progress'`);
};

export interface ClaimedLine extends Record<string, unknown> {
  batch_id: string;
  line: number;
  key_id: number;
  user_id: number;
  body: object;
  tries: number;
}

/**
 * Takes lines that nobody works on, those of dead processes among them. A batch of which much runs
 * already keeps nobody else's waiting.
 */
export const claimLines = async (
  db: Database,
  { instance, claim, most }: { instance: number; claim: string; most: number },
): Promise<ClaimedLine[]> => {
  const { rows } = await db.execute<ClaimedLine>(sql`
    WITH open AS (
      SELECT l.batch_id, l.line FROM api_batch_lines l JOIN api_batches b ON b.id = l.batch_id
      WHERE b.status = 'in_progress' AND l.not_before <= now() AND (l.state = 'waiting'
        OR (l.state = 'running' AND NOT EXISTS (SELECT FROM pg_locks
          WHERE objid = l.instance_id::oid AND ${sql.raw(livingLock)})))
      ORDER BY (SELECT count(*) FROM api_batch_lines r WHERE r.batch_id = l.batch_id AND r.state = 'running'),
        b.created_at, l.line
      LIMIT ${most} FOR UPDATE OF l SKIP LOCKED
    )
    UPDATE api_batch_lines l SET state = 'running', instance_id = ${instance}, claim = ${claim}::uuid,
      tries = l.tries + 1
    FROM open, api_batches b
    WHERE l.batch_id = open.batch_id AND l.line = open.line AND b.id = l.batch_id
    RETURNING l.batch_id, l.line, b.key_id::float8, b.user_id::float8, l.body, l.tries`);
  return rows;
};

export interface Claim {
  batch: string;
  line: number;
  claim: string;
}

/** Ends a line; false: another has taken it over. */
export const endLine = async (
  tx: Executor,
  { batch, line, claim }: Claim,
  state: 'done' | 'failed',
  answer: unknown,
): Promise<boolean> => {
  const { rowCount } = await tx.execute(sql`
    WITH ended AS (
      UPDATE api_batch_lines SET state = ${state}, answer = ${JSON.stringify(answer)}::jsonb
      WHERE batch_id = ${batch} AND line = ${line} AND claim = ${claim}::uuid AND state = 'running'
      RETURNING batch_id
    )
    UPDATE api_batches SET done = done + ${state === 'done' ? 1 : 0}, failed = failed + ${state === 'failed' ? 1 : 0}
    FROM ended WHERE id = ended.batch_id`);
  return (rowCount ?? 0) > 0;
};

/** Leaves a line to be tried again after so many ms. */
export const putBackLine = async (
  db: Executor,
  { batch, line, claim }: Claim,
  waitMs: number,
): Promise<void> => {
  await db.execute(sql`
    UPDATE api_batch_lines SET state = 'waiting', instance_id = NULL,
      not_before = now() + ${waitMs}::float8 * interval '1 millisecond'
    WHERE batch_id = ${batch} AND line = ${line} AND claim = ${claim}::uuid AND state = 'running'`);
};

/** Batches of which nothing is left to do, or whose time is over. */
export const endedBatches = async (db: Executor): Promise<string[]> => {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT b.id FROM api_batches b WHERE b.ended_at IS NULL AND (
      b.done + b.failed >= b.total
      OR ((b.status = 'cancelling' OR b.created_at < now() - interval '24 hours')
        AND NOT EXISTS (SELECT FROM api_batch_lines l JOIN pg_locks ON objid = l.instance_id::oid
          WHERE l.batch_id = b.id AND l.state = 'running' AND ${sql.raw(livingLock)})))
    LIMIT 20`);
  return rows.map(({ id }) => id);
};

interface EndedLine extends Record<string, unknown> {
  custom_id: string;
  state: string;
  answer: unknown;
}

/** A batch that ends now, nobody else ending it, with its lines in their order; null: it has ended. */
export const lockEnding = async (tx: Transaction, id: string) => {
  const { rows } = await tx.execute<BatchRow & { key_id: number; user_id: number }>(sql`
    SELECT ${batchFields}, key_id::float8, user_id::float8 FROM api_batches
    WHERE id = ${id} AND ended_at IS NULL FOR UPDATE SKIP LOCKED`);
  const [batch] = rows;
  if (!batch) return null;
  const lines = await tx.execute<EndedLine>(sql`
    SELECT custom_id, state, answer FROM api_batch_lines WHERE batch_id = ${id} ORDER BY line`);
  return { batch, lines: lines.rows };
};

export const endBatch = async (
  tx: Transaction,
  id: string,
  end: { status: BatchRow['status']; output: string | null; errors: string | null; failed: number },
): Promise<void> => {
  await tx.execute(sql`
    UPDATE api_batches SET status = ${end.status}, output_file_id = ${end.output},
      error_file_id = ${end.errors}, failed = ${end.failed}, ended_at = now() WHERE id = ${id}`);
  await tx.execute(sql`DELETE FROM ${apiBatchLines} WHERE batch_id = ${id}`);
};

/** After thirty days, and with their keys. */
export const dropOldBatches = async (tx: Transaction): Promise<void> => {
  for (const table of [apiBatches, apiFiles])
    await tx.execute(sql`DELETE FROM ${table} r USING api_keys k WHERE k.id = r.key_id
      AND (r.created_at < now() - interval '30 days' OR k.deleted_at IS NOT NULL)`);
};
