import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import type { JobKind, JobState, SubjectKind } from '#contract/job.ts';
import type { Executor, Transaction } from '../db/database.ts';
import { jobPreviews, jobs } from '../db/schema.ts';
import { personOf } from '../db/person.ts';
import { statement } from '../db/statement.ts';
import { storableJson } from '../storable.ts';
import { enqueue, guestTask, stopChannel, task, tell } from './job-sql.ts';

// ---- beginning --------------------------------------------------------------

export interface NewJob {
  uuid: string;
  userId: number;
  kind: JobKind;
  title: string;
  model: string;
  subject: { kind: SubjectKind; id: number };
  /** The message that it is about; left out: it is about none. */
  message?: { sessionId: number; historyId: number };
  /** JSON. */
  input: unknown;
  /** Null: it costs nothing. */
  holdId: string | null;
  heldTokens: number;
  /** How long it may take until its end, ms. */
  livesMs: number;
}

/** Guests' first jobs stand beside the sixth of somebody else. */
const guestsBehind = 5;
const mostTurn = 1000;

const insert = statement<{ id: number }>(
  'job_insert',
  `WITH person AS (SELECT u.guest, ${personOf} AS line FROM users u WHERE u.id = $2), made AS (
     INSERT INTO jobs (uuid, user_id, kind, title, model, session_id, history_id, input, hold_id,
       held_tokens, deadline, subject_kind, subject_id, line, guest, turn)
     SELECT $1::uuid, $2, $3, $4, $5, $6::bigint, $7::bigint, $8::jsonb, $9::uuid, $10::bigint,
       now() + $11::float8 * interval '1 millisecond', $12, $13::bigint, line, guest,
       CASE WHEN guest THEN ${guestsBehind} ELSE 0 END + least(${mostTurn}, (SELECT count(*)
         FROM jobs o WHERE o.state IN ('queued', 'running') AND o.line = person.line))::int
     FROM person
     ON CONFLICT (uuid) DO NOTHING RETURNING id, user_id, guest, turn
   )
   SELECT id::float8, ${tell('added')}, (${enqueue('id')}).id AS entry FROM made`,
);

/** Puts a job and its entry in the queue; null where there is one of this uuid already. */
export const insertJob = async (tx: Transaction, job: NewJob): Promise<number | null> => {
  const [row] = await insert(tx, [
    job.uuid,
    job.userId,
    job.kind,
    job.title,
    job.model,
    job.message?.sessionId ?? null,
    job.message?.historyId ?? null,
    storableJson(job.input),
    job.holdId,
    job.heldTokens,
    job.livesMs,
    job.subject.kind,
    job.subject.id,
  ]);
  return row?.id ?? null;
};

const lineOf = statement<{ line: string }>(
  'job_line_of',
  `SELECT ${personOf} AS line FROM users u WHERE u.id = $1`,
);
const openOfLine = statement<{ count: number }>(
  'jobs_open_of_line',
  `SELECT count(*)::int AS count FROM jobs WHERE state IN ('queued', 'running') AND line = $1`,
);

/**
 * Makes whoever else begins jobs of this person, or of the guests of their network, wait until the
 * transaction ends. Gives how many of all these are open.
 */
export const lockLine = async (tx: Transaction, userId: number): Promise<number> => {
  const [person] = await lineOf(tx, [userId]);
  const line = person?.line ?? '';
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`jobs ${line}`}, 0))`);
  const [row] = await openOfLine(tx, [line]);
  return row?.count ?? 0;
};

const isOpen = inArray(jobs.state, ['queued', 'running']);

export const countOpen = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(jobs)
    .where(and(eq(jobs.userId, userId), isOpen));
  return row?.count ?? 0;
};

// ---- reading ----------------------------------------------------------------

export interface JobRow {
  id: number;
  uuid: string;
  user_id: number;
  kind: JobKind;
  state: JobState;
  progress: number;
  title: string;
  model: string;
  engine: string;
  subject_kind: SubjectKind;
  subject_id: number;
  session_uuid: string | null;
  history_id: number | null;
  error_code: number;
  error_message: string;
  held_tokens: number;
  deduct_tokens: number;
  sent: boolean;
  stopping: boolean;
  created_at: Date;
  finished_at: Date | null;
  /** Jobs of the same model that wait before it. */
  waiting_before: number;
  /** Jobs of the same model that are worked on. */
  running_beside: number;
  /** For how long the one of them that began first has been, s; null: there are none. */
  beside_for: number | null;
  /** For how long it has been worked on, s. */
  running_for: number | null;
  /** Address of the first image that it made; asked for in the list alone. */
  image?: string | null;
  /** Of works on images: the words are translated first; asked for in the list alone. */
  translates?: boolean | null;
}

/** A worker that has taken a job up still looks for a free place at a service: it waits. */
const waits = (job: string) =>
  `(${job}.state = 'queued' OR (${job}.state = 'running' AND ${job}.engine = ''))`;
/** As the index of those has it. */
const open = (job: string) => `${job}.state IN ('queued', 'running')`;
const works = (job: string) => `(${job}.state = 'running' AND ${job}.engine <> '')`;

const viewOf = (name: string, condition: string, end = '', more = '') =>
  statement<JobRow>(
    name,
    `SELECT j.id::float8, j.uuid, j.user_id::float8, j.kind,
       CASE WHEN ${waits('j')} THEN 'queued' ELSE j.state END AS state, j.progress, j.title, j.model,
       j.engine, s.uuid AS session_uuid, j.history_id::float8, j.subject_kind,
       j.subject_id::float8, j.error_code,
       j.error_message, j.held_tokens::float8, j.deduct_tokens::float8, j.sent, j.cancel_requested AS stopping, j.created_at, j.finished_at,
       CASE WHEN ${waits('j')} THEN (SELECT count(*) FROM jobs o WHERE ${open('o')} AND ${waits('o')}
         AND o.model = j.model AND (o.turn, o.id) < (j.turn, j.id)) ELSE 0 END::int AS waiting_before,
       CASE WHEN ${waits('j')} THEN (SELECT count(*) FROM jobs o WHERE ${open('o')} AND ${works('o')}
         AND o.model = j.model) ELSE 0 END::int AS running_beside,
       CASE WHEN ${waits('j')} THEN (SELECT extract(epoch FROM now() - min(o.started_at)) FROM jobs o
         WHERE ${open('o')} AND ${works('o')} AND o.model = j.model) END::float8 AS beside_for,
       CASE WHEN ${works('j')} THEN extract(epoch FROM now() - j.started_at) END::float8
         AS running_for${more}
     FROM jobs j LEFT JOIN sessions s ON s.id = j.session_id WHERE ${condition} ${end}`,
  );

const byUuid = viewOf('job_by_uuid', 'j.uuid = $1');
const byIds = viewOf('jobs_by_ids', 'j.id = ANY($1::bigint[])', 'ORDER BY j.id');
const openOfPerson = viewOf(
  'jobs_open_of',
  `j.user_id = $1 AND j.state IN ('queued', 'running')`,
  'ORDER BY j.id',
);
const newestOf = viewOf(
  'jobs_of_subjects',
  `j.id IN (SELECT max(o.id) FROM jobs o WHERE o.subject_kind = $1
     AND o.subject_id = ANY($2::bigint[]) GROUP BY o.subject_id)`,
);
const firstImage = `,
       (SELECT '/files/' || i.key || '.' || i.type FROM images i WHERE i.history_id = j.history_id
         AND i.job_id = j.id AND i.deleted_at IS NULL ORDER BY i.id LIMIT 1) AS image,
       j.kind = 'image' AND jsonb_typeof(j.input->'translate') = 'object' AS translates`;
const paged = viewOf(
  'jobs_page',
  'j.user_id = $1',
  'ORDER BY j.id DESC OFFSET $2 LIMIT $3',
  firstImage,
);
const pagedOpen = viewOf(
  'jobs_page_open',
  `j.user_id = $1 AND j.state IN ('queued', 'running')`,
  'ORDER BY j.id DESC OFFSET $2 LIMIT $3',
);

export const findJob = async (db: Executor, uuid: string): Promise<JobRow | null> => {
  const [row] = await byUuid(db, [uuid]);
  return row ?? null;
};

export const jobsById = (db: Executor, ids: readonly number[]): Promise<JobRow[]> =>
  byIds(db, [ids]);

/** Those of a person that have not ended, oldest first. */
export const openJobs = (db: Executor, userId: number): Promise<JobRow[]> =>
  openOfPerson(db, [userId]);

/** The newest job of each of these things that has one. */
export const newestOfSubjects = async (
  db: Executor,
  kind: SubjectKind,
  ids: readonly number[],
): Promise<JobRow[]> => (ids.length === 0 ? [] : newestOf(db, [kind, ids]));

export const jobPage = (
  db: Executor,
  userId: number,
  { running, offset, limit }: { running: boolean; offset: number; limit: number },
): Promise<JobRow[]> => (running ? pagedOpen : paged)(db, [userId, offset, limit]);

export const countJobs = async (db: Executor, userId: number): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(jobs)
    .where(eq(jobs.userId, userId));
  return row?.count ?? 0;
};

const durations = statement<{ seconds: number | null }>(
  'job_durations',
  `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY took)::float8 AS seconds FROM (
     SELECT extract(epoch FROM finished_at - started_at) AS took FROM jobs
     WHERE model = $1 AND ($2 = '' OR engine = $2) AND state = 'done' AND finished_at > now() - interval '1 day'
     ORDER BY id DESC LIMIT 20
   ) last`,
);

/**
 * Half of the last jobs of a model took at most this long, s, at that service (empty: at any); null:
 * there were none lately.
 */
export const usualSeconds = async (
  db: Executor,
  model: string,
  engine: string,
): Promise<number | null> => {
  const [row] = await durations(db, [model, engine]);
  return row?.seconds ?? null;
};

/** Images as they look so far, data URLs by number of the job. */
export const previewsOf = async (
  db: Executor,
  ids: readonly number[],
): Promise<Map<number, string>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(jobPreviews)
    .where(inArray(jobPreviews.jobId, [...ids]));
  return new Map(rows.map((row) => [row.jobId, row.image]));
};

// ---- changing ---------------------------------------------------------------

/** Asks whichever process works on it to stop. */
export const requestCancel = async (db: Executor, id: number): Promise<void> => {
  await db
    .update(jobs)
    .set({ cancelRequested: true })
    .where(and(eq(jobs.id, id), isOpen));
  await db.execute(sql`SELECT pg_notify(${stopChannel}, ${String(id)})`);
};

/** Numbers of the jobs that have not ended, of a thing or of all messages of a session. */
export const openOf = async (
  db: Executor,
  of: { subject: SubjectKind; id: number } | { sessionId: number },
): Promise<{ id: number; userId: number; uuid: string }[]> =>
  db
    .select({ id: jobs.id, userId: jobs.userId, uuid: jobs.uuid })
    .from(jobs)
    .where(
      and(
        isOpen,
        'subject' in of
          ? and(eq(jobs.subjectKind, of.subject), eq(jobs.subjectId, of.id))
          : eq(jobs.sessionId, of.sessionId),
      ),
    )
    .orderBy(desc(jobs.id));

/** Gives a guest's jobs to the account that the guest became. */
export const moveJobs = async (
  db: Executor,
  fromUserId: number,
  toUserId: number,
): Promise<void> => {
  await db
    .update(jobs)
    .set({ userId: toUserId, line: String(toUserId), guest: false })
    .where(eq(jobs.userId, fromUserId));
};

/** Takes out the queue's entries whose worker died with them. */
export const removeDeadEntries = async (db: Executor): Promise<void> => {
  await db.execute(sql`SELECT graphile_worker.complete_jobs(array_agg(id)) FROM graphile_worker.jobs
    WHERE attempts >= max_attempts AND task_identifier IN (${task}, ${guestTask})`);
};
