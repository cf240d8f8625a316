import { sql } from 'drizzle-orm';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { statement } from '#server/db/statement.ts';
import { apiBatches, apiBatchLines, apiFiles } from './batch.tables.ts';

/** Batches of keys. Another key's are as if they were not there. */

/** Characters of all answers of a batch: what is left then is not begun. */
export const mostAnswered = 200_000_000;

type Listed = 'api_files' | 'api_batches';

/** Which of them; the newest first, unless it says otherwise. */
export interface Page {
  /** The id of the last one of the page before. */
  after?: string | undefined;
  most: number;
  order?: 'asc' | 'desc';
}

export const pageOf = (
  table: Listed,
  keyId: number,
  { after, most, order = 'desc' }: Page,
  only = sql``,
) => {
  const name = sql.raw(table);
  const way = sql.raw(order);
  const from = after
    ? sql`AND (created_at, id) ${sql.raw(order === 'desc' ? '<' : '>')} (SELECT created_at, id FROM ${name} WHERE id = ${after} AND key_id = ${keyId})`
    : sql``;
  return sql`FROM ${name} WHERE key_id = ${keyId} ${only} ${from}
    ORDER BY created_at ${way}, id ${way} LIMIT ${most}`;
};

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

const addLines = statement(
  'api_batch_lines_add',
  `INSERT INTO api_batch_lines (batch_id, line, custom_id, body)
   SELECT $1, $2::int + line, name, body
   FROM unnest($3::text[], $4::json[]) WITH ORDINALITY AS given (name, body, line)`,
);

export interface NewLine {
  custom_id: string;
  /** JSON. */
  body: string;
}

/** Bytes of lines that are written together. */
const writtenAtOnce = 1024 * 1024;

export const insertBatch = async (
  tx: Transaction,
  batch: {
    id: string;
    keyId: number;
    userId: number;
    fileId: string;
    metadata: object;
    bytes: number;
  },
  lines: readonly NewLine[],
): Promise<BatchRow> => {
  const { id, keyId, userId, fileId, metadata, bytes } = batch;
  const { rows } = await tx.execute<BatchRow>(sql`
    INSERT INTO api_batches (id, key_id, user_id, input_file_id, status, metadata, total, bytes)
    VALUES (${id}, ${keyId}, ${userId}, ${fileId}, 'in_progress', ${JSON.stringify(metadata)}::jsonb,
      ${lines.length}, ${bytes})
    RETURNING ${batchFields}`);
  for (let first = 0; first < lines.length;) {
    let last = first;
    for (
      let size = 0;
      last < lines.length && size < writtenAtOnce && last - first < 1000;
      last += 1
    )
      size += lines[last]!.body.length;
    const now = lines.slice(first, last);
    await addLines(tx, [
      id,
      first,
      now.map(({ custom_id: name }) => name),
      now.map(({ body }) => body),
    ]);
    first = last;
  }
  return rows[0]!;
};

/** What a person has under way: lines that are not done, their bytes, batches that have not ended. */
export const underWay = async (db: Executor, userId: number) => {
  const { rows } = await db.execute<{ lines: number; bytes: number; batches: number }>(sql`
    SELECT coalesce(sum(total - done - failed), 0)::int AS lines,
      coalesce(sum(bytes), 0)::float8 AS bytes, count(*)::int AS batches
    FROM api_batches WHERE user_id = ${userId} AND ended_at IS NULL`);
  return rows[0] ?? { lines: 0, bytes: 0, batches: 0 };
};

export const batchesOf = async (db: Executor, keyId: number, page: Page): Promise<BatchRow[]> =>
  (await db.execute<BatchRow>(sql`SELECT ${batchFields} ${pageOf('api_batches', keyId, page)}`))
    .rows;

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

/** Leaves to others what dead processes worked on. */
export const freeDeadLines = async (db: Database): Promise<void> => {
  await db.execute(sql`
    UPDATE api_batch_lines l SET state = 'waiting', instance_id = NULL
    WHERE l.state = 'running' AND NOT EXISTS (SELECT FROM pg_locks
      WHERE objid = l.instance_id::oid AND ${sql.raw(livingLock)})`);
};

/**
 * Takes lines that nobody works on. A person of whom much runs already keeps nobody else's waiting,
 * and however many lines a batch has, only the next ones are looked at.
 * @param waited minutes that a batch must have waited
 */
export const claimLines = async (
  db: Database,
  {
    instance,
    claim,
    most,
    waited,
  }: { instance: number; claim: string; most: number; waited: number },
): Promise<ClaimedLine[]> => {
  const { rows } = await db.execute<ClaimedLine>(sql`
    WITH running AS MATERIALIZED (
      SELECT b.user_id, count(*) AS lines FROM api_batch_lines l JOIN api_batches b ON b.id = l.batch_id
      WHERE l.state = 'running' GROUP BY b.user_id
    ), batches AS MATERIALIZED (
      SELECT b.id FROM api_batches b LEFT JOIN running r ON r.user_id = b.user_id
      WHERE b.ended_at IS NULL AND b.status = 'in_progress' AND b.answered < ${mostAnswered}
        AND b.created_at <= now() - ${waited}::int * interval '1 minute'
      ORDER BY coalesce(r.lines, 0), b.created_at
    ), open AS (
      SELECT l.batch_id, l.line FROM batches b CROSS JOIN LATERAL (
        SELECT batch_id, line FROM api_batch_lines
        WHERE batch_id = b.id AND state = 'waiting' AND not_before <= now()
        ORDER BY not_before, line LIMIT ${most} FOR UPDATE SKIP LOCKED
      ) l LIMIT ${most}
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
  const told = JSON.stringify(answer);
  const { rowCount } = await tx.execute(sql`
    WITH ended AS (
      UPDATE api_batch_lines SET state = ${state}, answer = ${told}::json
      WHERE batch_id = ${batch} AND line = ${line} AND claim = ${claim}::uuid AND state = 'running'
      RETURNING batch_id
    )
    UPDATE api_batches SET done = done + ${state === 'done' ? 1 : 0}, failed = failed + ${state === 'failed' ? 1 : 0},
      answered = answered + ${told.length}
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
      OR ((b.status = 'cancelling' OR b.created_at < now() - interval '24 hours'
          OR b.answered >= ${mostAnswered})
        AND NOT EXISTS (SELECT FROM api_batch_lines l JOIN pg_locks ON objid = l.instance_id::oid
          WHERE l.batch_id = b.id AND l.state = 'running' AND ${sql.raw(livingLock)})))
    LIMIT 20`);
  return rows.map(({ id }) => id);
};

interface EndedLine extends Record<string, unknown> {
  line: number;
  custom_id: string;
  state: string;
  answer: unknown;
}

type EndingBatch = BatchRow & { key_id: number; user_id: number; answered: number };

/** A batch that ends now, nobody else ending it; null: it has ended. */
export const lockEnding = async (tx: Transaction, id: string): Promise<EndingBatch | null> => {
  const { rows } = await tx.execute<EndingBatch>(sql`
    SELECT ${batchFields}, key_id::float8, user_id::float8, answered::float8 FROM api_batches
    WHERE id = ${id} AND ended_at IS NULL FOR UPDATE SKIP LOCKED`);
  return rows[0] ?? null;
};

/** Lines that are read together. */
const linesAtOnce = 100;

/** The lines of a batch in their order. */
export async function* linesOf(tx: Transaction, id: string): AsyncGenerator<EndedLine> {
  for (let after = 0; ;) {
    const { rows } = await tx.execute<EndedLine>(sql`
      SELECT line, custom_id, state, answer FROM api_batch_lines
      WHERE batch_id = ${id} AND line > ${after} ORDER BY line LIMIT ${linesAtOnce}`);
    yield* rows;
    if (rows.length < linesAtOnce) return;
    after = rows.at(-1)!.line;
  }
}

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
