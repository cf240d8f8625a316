import { and, asc, eq, ne, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { channels, modelChannels, models, users } from '#server/db/schema.ts';
import type { FetchRow } from './bring-model.ts';

/** What was found running on this machine, and the models that one may choose there. */
export const foundServices = async (db: Executor) => {
  const rows = await db
    .select({ service: channels.label, name: models.name, label: models.label })
    .from(channels)
    .innerJoin(modelChannels, eq(modelChannels.channelId, channels.id))
    .innerJoin(models, eq(models.id, modelChannels.modelId))
    .where(
      and(
        eq(channels.source, 'local'),
        ne(channels.baseUrl, ''),
        eq(channels.enabled, true),
        eq(models.display, true),
      ),
    )
    .orderBy(asc(channels.id), asc(models.label));
  return [...new Set(rows.map(({ service }) => service))].map((label) => ({
    label,
    models: rows.flatMap((row) =>
      row.service === label ? [{ name: row.name, label: row.label }] : [],
    ),
  }));
};

/** How far a pull of Ollama is, as its job remembers it. */
export interface PullSoFar {
  status: string;
  bytes: number;
  total: number;
}

export interface PullRow {
  id: number;
  model: string;
  state: 'queued' | 'running' | 'done' | 'error' | 'cancelled';
  sofar: Partial<PullSoFar> | null;
  error: string;
}

/** Pulls from one address, the newest of each model, the newest first; those put out of sight are left out. */
export const pullsFrom = async (
  db: Executor,
  baseUrl: string,
  most: number,
): Promise<PullRow[]> => {
  const { rows } = await db.execute<PullRow & Record<string, unknown>>(sql`
    SELECT * FROM (
      SELECT DISTINCT ON (input->>'model') id::float8, input->>'model' AS model, state,
        remote AS sofar, error_message AS error
      FROM jobs
      WHERE subject_kind = 'local-model' AND kind = 'ollama' AND input->>'base_url' = ${baseUrl}
      ORDER BY input->>'model', id DESC
    ) AS newest
    WHERE state <> 'cancelled' AND coalesce(sofar->>'hidden', '') = ''
    ORDER BY id DESC LIMIT ${most}`);
  return rows;
};

/** Whoever begins to bring a model waits until another has begun it. */
export const lockFetches = async (tx: Transaction): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended('local models', 0))`);
};

/** The last job that brought each model of this folder; those put out of sight are left out. */
export const lastFetches = async (db: Executor, folder: string): Promise<FetchRow[]> => {
  const { rows } = await db.execute<FetchRow & Record<string, unknown>>(sql`
    SELECT * FROM (
      SELECT DISTINCT ON (input->>'key') id::float8, input->>'key' AS key, state,
        error_message AS error, remote->>'hidden' AS hidden
      FROM jobs
      WHERE subject_kind = 'local-model' AND kind = 'local-model' AND input->>'folder' = ${folder}
      ORDER BY input->>'key', id DESC
    ) AS newest
    WHERE hidden IS NULL`);
  return rows;
};

/** Whose job it is that nobody pressed for. */
export const firstOwner = async (db: Executor): Promise<number | null> => {
  const [row] = await db
    .select({ id: users.id })
    .from(users)
    .where(eq(users.owner, true))
    .orderBy(asc(users.id))
    .limit(1);
  return row?.id ?? null;
};

/** Puts how a job ended out of sight of the shelf. */
export const hideJob = async (db: Executor, id: number): Promise<void> => {
  await db.execute(sql`
    UPDATE jobs SET remote = coalesce(remote, '{}'::jsonb) || '{"hidden": true}'::jsonb
    WHERE id = ${id}`);
};
