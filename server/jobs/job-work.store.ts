import { and, eq, sql } from 'drizzle-orm';
import type { JobKind, JobState, SubjectKind } from '#contract/job.ts';
import type { Executor, Transaction } from '../db/database.ts';
import { jobs } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import { enqueue, stopChannel, task, tell } from './job-sql.ts';

/** How long a worker has a job to itself unless it says again that it is at it, s. */
const leaseSeconds = 30;
const lease = `now() + interval '${leaseSeconds} seconds'`;

export interface ClaimedJob {
  id: number;
  uuid: string;
  user_id: number;
  kind: JobKind;
  model: string;
  title: string;
  subject_kind: SubjectKind;
  subject_id: number;
  session_id: number | null;
  history_id: number | null;
  input: unknown;
  remote: unknown;
  hold_id: string | null;
  held_tokens: number;
  attempts: number;
  /** 0 to 1. */
  progress: number;
  /** Something of it is out at a service that takes nothing back. */
  sent: boolean;
  /** Until its time is over, ms. */
  left_ms: number;
}

/** A job that is about to end, locked. */
export type EndingJob = ClaimedJob & {
  /** Whose it is has been taken away, and with them what it was to make. */
  gone: boolean;
};

const claimed = `id::float8, uuid, user_id::float8, kind, model, title, session_id::float8,
  history_id::float8, subject_kind, subject_id::float8, input, remote, hold_id, held_tokens::float8, attempts, progress, sent,
  extract(epoch FROM deadline - now())::float8 * 1000 AS left_ms`;

const claim = statement<ClaimedJob>(
  'job_claim',
  `WITH mine AS (
     UPDATE jobs SET state = 'running', owner = $2, leased_until = ${lease}, progress = 0,
       attempts = attempts + 1, started_at = now()
     WHERE id = $1 AND state = 'queued' AND NOT cancel_requested RETURNING *
   )
   SELECT ${claimed} FROM mine`,
);

/** Takes a waiting job for a worker; null where another has it, or it has ended. */
export const claimJob = async (
  db: Executor,
  id: number,
  owner: number,
): Promise<ClaimedJob | null> => {
  const [row] = await claim(db, [id, owner]);
  return row ?? null;
};

const renewal = statement<{ id: number; stop: boolean; left_ms: number }>(
  'jobs_renew',
  `UPDATE jobs SET leased_until = ${lease}
   WHERE id = ANY($2::bigint[]) AND owner = $1 AND state = 'running'
   RETURNING id::float8, cancel_requested AS stop,
     extract(epoch FROM deadline - now())::float8 * 1000 AS left_ms`,
);

/** Says that these are still worked on; gives those that are still this owner's. */
export const renewLeases = (db: Executor, owner: number, ids: readonly number[]) =>
  renewal(db, [owner, ids]);

const progressing = statement(
  'job_progress',
  `WITH mine AS (
     UPDATE jobs SET progress = greatest(progress, $3) WHERE id = $1 AND owner = $2
       AND state = 'running' RETURNING id, user_id
   ), seen AS (
     INSERT INTO job_previews (job_id, image) SELECT id, $4 FROM mine WHERE $4 <> ''
     ON CONFLICT (job_id) DO UPDATE SET image = excluded.image
   )
   SELECT ${tell('moved')} FROM mine`,
);

/** @param preview data URL; empty: as before */
export const noteProgress = async (
  db: Executor,
  owner: number,
  { id, progress, preview }: { id: number; progress: number; preview: string },
): Promise<void> => {
  await progressing(db, [id, owner, progress, preview]);
};

export const noteRemote = async (
  db: Executor,
  owner: number,
  id: number,
  remote: unknown,
): Promise<void> => {
  await db
    .update(jobs)
    .set({ remote })
    .where(and(eq(jobs.id, id), eq(jobs.owner, owner), eq(jobs.state, 'running')));
};

const sending = statement(
  'job_sent',
  `WITH mine AS (
     UPDATE jobs SET sent = $3 WHERE id = $1 AND owner = $2 AND state = 'running'
     RETURNING id, user_id
   )
   SELECT ${tell('moved')} FROM mine`,
);

/** Notes whether something of it is out at a service that takes nothing back. */
export const noteSent = async (
  db: Executor,
  owner: number,
  id: number,
  sent: boolean,
): Promise<void> => {
  await sending(db, [id, owner, sent]);
};

/** How many works a service does at once. */
export interface Place {
  channelId: number;
  places: number;
}

/** First half of the advisory locks under which a service's places are given out. */
const placeLockClass = 7_217_002;

/** Whether guests have all the places of a service that they may: one is for others where it has several. */
const laneFull = (channel: string, places: string, but = '0') =>
  `(${places} > 1 AND ${places} - 1 <= (SELECT count(*) FROM jobs g WHERE g.channel_id = ${channel}
    AND g.guest AND g.state = 'running' AND g.leased_until > now() AND g.id <> ${but}))`;

const takePlace = statement<{ id: number }>(
  'job_place',
  `WITH lane AS (SELECT ${laneFull('$3', '$5::int', '$1')} AS full), mine AS (
     UPDATE jobs SET channel_id = $3, engine = $4
     WHERE id = $1 AND owner = $2 AND state = 'running'
       AND NOT (guest AND (SELECT lane.full FROM lane)) AND $5::int > (
       SELECT count(*) FROM jobs other WHERE other.channel_id = $3 AND other.id <> $1
         AND (other.state = 'running' AND other.leased_until > now()
           OR other.state = 'queued' AND (other.turn, other.id) < (jobs.turn, jobs.id)
             AND NOT (other.guest AND (SELECT lane.full FROM lane))))
     RETURNING id, user_id
   )
   SELECT id::float8, ${tell('moved')} FROM mine`,
);

/**
 * Gives a job one of the places that a service has, over all processes; false while they are taken,
 * or jobs whose turn is before its wait for them.
 */
export const claimPlace = async (
  tx: Transaction,
  owner: number,
  place: Place & { id: number; label: string },
): Promise<boolean> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${placeLockClass}, ${place.channelId})`);
  const rows = await takePlace(tx, [place.id, owner, place.channelId, place.label, place.places]);
  return rows.length > 0;
};

const waiting = statement<{ others: boolean }>(
  'job_others_wait',
  `SELECT EXISTS (SELECT FROM jobs
     WHERE state = 'queued' AND coalesce(channel_id, 0) = 0 AND user_id <> $1) AS others`,
);

/**
 * Whether a job of anybody but this person waits for a worker, or for a place of this house's own
 * (0); those that wait for a service's do not.
 */
export const othersWait = async (db: Executor, userId: number): Promise<boolean> => {
  const [row] = await waiting(db, [userId]);
  return row?.others === true;
};

const putBack = statement<{ id: number }>(
  'job_put_back',
  `WITH mine AS (
     UPDATE jobs SET state = 'queued', owner = NULL, leased_until = NULL, started_at = NULL,
       progress = 0, engine = '', sent = false, channel_id = $3, attempts = attempts - $4::int
     WHERE id = $1 AND owner = $2 AND state = 'running' RETURNING id, user_id
   ), unseen AS (
     DELETE FROM job_previews USING mine WHERE job_id = mine.id
   )
   SELECT id::float8, ${tell('queued')} FROM mine`,
);

/**
 * Lets a job of this owner wait again, for the service's place where it names one; it has no entry
 * in the queue then. `counted`: this try was one.
 */
export const putJobBack = async (
  db: Executor,
  owner: number,
  id: number,
  { channelId, counted }: { channelId: number | null; counted: boolean },
): Promise<void> => {
  await putBack(db, [id, owner, channelId, counted ? 0 : 1]);
};

const entry = statement(
  'job_entry',
  `SELECT (${enqueue('id', `now() + $2::float8 * interval '1 millisecond'`)}).id AS entry
   FROM jobs WHERE id = $1 AND state = 'queued'`,
);

/** Puts a waiting job into the queue, for some time later. */
export const enqueueJob = async (db: Executor, id: number, afterMs: number): Promise<void> => {
  await entry(db, [id, afterMs]);
};

const unheard = `state = 'queued' AND NOT EXISTS (SELECT FROM graphile_worker.jobs q
  WHERE q.key = '${task}:' || jobs.id AND q.locked_at IS NULL AND q.attempts < q.max_attempts)`;
const waking = statement(
  'jobs_wake_channel',
  `SELECT (${enqueue('id')}).id AS entry FROM (
     SELECT id, guest, turn FROM jobs WHERE channel_id = $1 AND ${unheard}
       AND NOT (guest AND ${laneFull('$1', '$2::int')})
       AND $2::int > (SELECT count(*) FROM jobs other WHERE other.channel_id = $1
         AND other.state = 'running' AND other.leased_until > now())
     ORDER BY turn, id LIMIT 1
   ) next`,
);
const wakingAll = statement(
  'jobs_wake_all',
  `SELECT (${enqueue('id')}).id AS entry FROM (
     SELECT id, guest, turn FROM jobs
     WHERE ${unheard} AND created_at < now() - interval '2 seconds' ORDER BY turn, id LIMIT $1
   ) next`,
);

/** Puts the first job that waits for a service's place and may have it back into the queue. */
export const wakeOne = async (db: Executor, { channelId, places }: Place): Promise<void> => {
  await waking(db, [channelId, places]);
};

/** Puts waiting jobs without an entry into the queue, the oldest first. */
export const wakeForgotten = async (db: Executor, most: number): Promise<void> => {
  await wakingAll(db, [most]);
};

export interface StrayJob {
  id: number;
  state: JobState;
  owner: number | null;
  attempts: number;
  cancel_requested: boolean;
  lease_over: boolean;
  time_over: boolean;
}

const strays = statement<StrayJob>(
  'jobs_strays',
  `SELECT id::float8, state, owner, attempts, cancel_requested,
     coalesce(leased_until < now(), true) AS lease_over, deadline < now() AS time_over
   FROM jobs WHERE state IN ('queued', 'running') ORDER BY id LIMIT 1000`,
);

/** All that wait or are worked on, for whoever looks after them. */
export const openStates = (db: Executor): Promise<StrayJob[]> => strays(db, []);

// ---- ending -----------------------------------------------------------------

const openOfPerson = statement<{ id: number; state: 'queued' | 'running'; owner: number | null }>(
  'jobs_ending_of',
  `SELECT id::float8, state, owner FROM jobs
   WHERE user_id = $1 AND state IN ('queued', 'running') ORDER BY id`,
);

/** Those of a person that have not ended, oldest first. */
export const openOf = (db: Executor, userId: number) => openOfPerson(db, [userId]);

const endedOf = statement<{ ended: boolean }>(
  'job_has_ended',
  'SELECT finished_at IS NOT NULL AS ended FROM jobs WHERE id = $1',
);

/** Whether nobody works on it any more, nor will. */
export const hasEnded = async (db: Executor, id: number): Promise<boolean> => {
  const [row] = await endedOf(db, [id]);
  return row?.ended ?? true;
};

/** Tells whichever process works on a job to look whether it still has it. */
export const tellWorker = async (db: Executor, id: number): Promise<void> => {
  await db.execute(sql`SELECT pg_notify(${stopChannel}, ${String(id)})`);
};

const kindAndSubjectOf = statement<Pick<ClaimedJob, 'id' | 'kind' | 'subject_id'>>(
  'job_kind_and_subject',
  'SELECT id::float8, kind, subject_id::float8 FROM jobs WHERE id = $1',
);

export const kindAndSubject = async (db: Executor, id: number) => {
  const [row] = await kindAndSubjectOf(db, [id]);
  return row ?? null;
};

/**
 * Locks a job that is about to end; its session, where it has one, before it as everywhere. Null
 * where it is no longer in this state and this owner's: somebody else ended it.
 */
export const lockForEnd = async (
  tx: Transaction,
  { id, state, owner }: { id: number; state: JobState; owner: number | null },
): Promise<EndingJob | null> => {
  await tx.execute(
    sql`SELECT FROM sessions WHERE id = (SELECT session_id FROM jobs WHERE id = ${id})
      FOR NO KEY UPDATE`,
  );
  const { rows } = await tx.execute<EndingJob & Record<string, unknown>>(
    sql`SELECT ${sql.raw(claimed)},
        (SELECT u.erased_at IS NOT NULL FROM users u WHERE u.id = jobs.user_id) AS gone FROM jobs
      WHERE id = ${id} AND state = ${state} AND owner IS NOT DISTINCT FROM ${owner}::int FOR UPDATE`,
  );
  return rows[0] ?? null;
};

const ending = statement(
  'job_end',
  `WITH ended AS (
     UPDATE jobs SET state = $2, progress = CASE WHEN $2 = 'done' THEN 1 ELSE progress END,
       error_code = $3, error_message = $4, deduct_tokens = $5, owner = NULL, leased_until = NULL,
       channel_id = NULL, finished_at = now()
     WHERE id = $1 RETURNING id, user_id
   ), unseen AS (
     DELETE FROM job_previews WHERE job_id = $1
   )
   SELECT ${tell('ended')} FROM ended`,
);

export const endJob = async (
  tx: Transaction,
  id: number,
  end: { state: JobState; errorCode: number; errorMessage: string; deductTokens: number },
): Promise<void> => {
  await ending(tx, [id, end.state, end.errorCode, end.errorMessage, end.deductTokens]);
};
