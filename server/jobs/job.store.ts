import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import type { JobKind, JobState, SubjectKind } from '../../contract/job.ts';
import type { Executor, Transaction } from '../db/database.ts';
import { jobPreviews, jobs } from '../db/schema.ts';
import { personOf } from '../db/person.ts';
import { statement } from '../db/statement.ts';

/** NOTIFY channels: a job changed (`userId:id:what`), and one that shall be stopped (its id). */
export const changedChannel = 'queqiao_job';
export const stopChannel = 'queqiao_job_stop';

/**
 * The queue's names of what is done with its entries: each holds the number of a job. Those of guests
 * have a name of their own, so that some workers do others' alone.
 */
export const task = 'job';
export const guestTask = 'job_of_guest';

/** How long a worker has a job to itself unless it says again that it is at it, s. */
const leaseSeconds = 30;
const lease = `now() + interval '${leaseSeconds} seconds'`;

/** The columns `id`, `guest` and `turn` of a job stand in the row that it is made of. */
const enqueue = (id: string, runAt = 'now()') =>
  `graphile_worker.add_job(CASE WHEN guest THEN '${guestTask}' ELSE '${task}' END,
    json_build_object('id', ${id}), run_at => ${runAt}, max_attempts => 1,
    job_key => '${task}:' || ${id}, priority => turn)`;
const tell = (what: string) => `pg_notify('${changedChannel}', user_id || ':' || id || ':${what}')`;

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
    JSON.stringify(job.input),
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

// ---- working ----------------------------------------------------------------

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
export const claimPlace = (
  tx: Transaction,
  owner: number,
  place: Place & { id: number; label: string },
): Promise<boolean> =>
  (async () => {
    await tx.execute(sql`SELECT pg_advisory_xact_lock(${placeLockClass}, ${place.channelId})`);
    const rows = await takePlace(tx, [place.id, owner, place.channelId, place.label, place.places]);
    return rows.length > 0;
  })();

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
): Promise<ClaimedJob | null> => {
  await tx.execute(
    sql`SELECT FROM sessions WHERE id = (SELECT session_id FROM jobs WHERE id = ${id})
      FOR NO KEY UPDATE`,
  );
  const { rows } = await tx.execute<ClaimedJob & Record<string, unknown>>(
    sql`SELECT ${sql.raw(claimed)} FROM jobs
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
