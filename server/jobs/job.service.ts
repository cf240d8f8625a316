import { createHash } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import type { Job, SubjectKind } from '#contract/job.ts';
import { limits } from '#contract/limits.ts';
import type { Executor, Transaction } from '../db/database.ts';
import { Refusal } from '../http/handlers.ts';
import * as store from './job.store.ts';
import { pageOf, windowOf } from '#server/paging.ts';

export {
  moveJobs,
  openOf as openJobsOf,
  openJobs as openJobsOfPerson,
  removeDeadEntries,
} from './job.store.ts';

/** How long it is remembered how long a model's jobs take, ms. */
const usualFor = 20_000;
const usual = new Map<string, { seconds: number | null; until: number }>();

const usualSeconds = async (
  db: Executor,
  { model, engine }: Pick<store.JobRow, 'model' | 'engine'>,
): Promise<number | null> => {
  const key = `${model} ${engine}`;
  const known = usual.get(key);
  if (known && known.until > Date.now()) return known.seconds;
  const seconds = await store.usualSeconds(db, model, engine);
  usual.set(key, { seconds, until: Date.now() + usualFor });
  return seconds;
};

/**
 * Seconds until a job's end, by how far it is and by how long the last ones of its model took at that
 * service; null where that would be a guess.
 */
export const remainingOf = (
  row: Pick<
    store.JobRow,
    'state' | 'progress' | 'running_for' | 'waiting_before' | 'running_beside' | 'beside_for'
  >,
  seconds: number | null,
): number | null => {
  if (row.state === 'running') {
    const spent = row.running_for ?? 0;
    // Its own pace tells more than others' once some of it is done.
    if (row.progress >= 0.15) return Math.ceil((spent / row.progress) * (1 - row.progress));
    // Longer than the others took: nobody knows.
    return seconds === null || spent >= seconds ? null : Math.ceil(seconds - spent);
  }
  if (row.state !== 'queued') return null;
  if (seconds === null) return null;
  // The one before it takes longer than usual: so will this one, nobody knows how much.
  if ((row.beside_for ?? 0) > seconds * 2) return null;
  const beside = Math.max(1, row.running_beside);
  const turns = Math.ceil((row.waiting_before + 1) / beside);
  return Math.ceil(seconds * (row.running_beside === 0 ? turns : turns + 0.5));
};

const viewOf = (row: store.JobRow, seconds: number | null): Job => {
  const ended = row.finished_at !== null;
  return {
    uuid: row.uuid,
    kind: row.kind,
    state: row.state,
    progress: row.progress,
    position: row.waiting_before,
    remaining: remainingOf(row, seconds),
    title: row.title,
    model: row.model,
    engine: row.engine,
    subject_kind: row.subject_kind,
    subject_id: row.subject_id,
    session_uuid: row.session_uuid ?? '',
    history_id: row.history_id ?? 0,
    error_code: row.error_code,
    error_message: row.error_message,
    deduct_tokens: ended ? row.deduct_tokens : row.held_tokens,
    held_tokens: row.held_tokens,
    sent: row.sent && !ended,
    stopping: row.stopping && !ended,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    ...(row.image && { image: row.image }),
    ...(row.translates && { translates: true }),
  };
};

/** Jobs as their owners may see them. */
export const viewJobs = async (db: Executor, rows: readonly store.JobRow[]): Promise<Job[]> => {
  const views = [];
  for (const row of rows) {
    const open = row.finished_at === null;
    views.push(viewOf(row, open ? await usualSeconds(db, row) : null));
  }
  return views;
};

/** The newest job of each of these things that has one, by the thing's number. */
export const jobsOf = async (
  db: Executor,
  kind: SubjectKind,
  ids: readonly number[],
): Promise<Map<number, Job>> => {
  const rows = await store.newestOfSubjects(db, kind, ids);
  return new Map((await viewJobs(db, rows)).map((view) => [view.subject_id, view]));
};

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The number that a client's own name for a request stands for: a UUID itself, others for this person alone. */
const numberOf = (requestId: string, userId: number): string => {
  if (uuidPattern.test(requestId)) return requestId.toLowerCase();
  const hex = createHash('sha256').update(`request ${userId} ${requestId}`).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5');
};

/** A person's own job; others' are as if missing. @throws Refusal not_found */
export const ownJob = async (db: Executor, uuid: string, userId: number): Promise<store.JobRow> => {
  const row = await store.findJob(db, numberOf(uuid, userId));
  if (row?.user_id !== userId) throw new Refusal('not_found', '没有这个任务');
  return row;
};

/** An own job with the image as it looks so far. */
export const jobNow = async (db: Executor, uuid: string, userId: number) => {
  const row = await ownJob(db, uuid, userId);
  const previews = await store.previewsOf(db, row.finished_at === null ? [row.id] : []);
  const [view] = await viewJobs(db, [row]);
  if (!view) throw new Refusal('not_found');
  return { job: view, current_image: previews.get(row.id) ?? '' };
};

/** A page of a person's jobs, newest first. */
export const listJobs = async (db: Executor, input: Parsed<'jobList'>, userId: number) => {
  const running = await store.countOpen(db, userId);
  const total = input.running === 1 ? running : await store.countJobs(db, userId);
  const pageSize = limits.pageSize;
  const rows = await store.jobPage(db, userId, {
    running: input.running === 1,
    ...windowOf(input.page, pageSize, 100_000),
  });
  return {
    list: await viewJobs(db, rows),
    ...pageOf(total, input.page, pageSize),
    running,
  };
};

/** What a call that begins a job finds of its number: an own job of the same, or none. */
export const jobOfRequest = (
  db: Executor,
  requestId: string,
  userId: number,
): Promise<store.JobRow | null> => store.findJob(db, numberOf(requestId, userId));

/**
 * The job of the same request, sent once more without its idempotency key; null: it is a new one.
 * @throws Refusal conflict where the number is of another job than the newest of the subject
 */
export const repeatedJob = async (
  db: Executor,
  requestId: string,
  userId: number,
  subject: { kind: SubjectKind; id: number },
): Promise<Job | null> => {
  const known = await jobOfRequest(db, requestId, userId);
  if (!known) return null;
  const job = (await jobsOf(db, subject.kind, [subject.id])).get(subject.id);
  if (known.user_id !== userId || job?.uuid !== known.uuid) throw new Refusal('conflict');
  return job;
};

/** UTF-16 units of a job's title. */
const titleLength = 200;

/**
 * Begins a job: its row and its entry in the queue, in the caller's transaction, with whatever hold
 * the caller makes. @throws Refusal too_many_jobs, conflict where the number is taken
 */
export const beginJob = async (tx: Transaction, job: store.NewJob): Promise<Job> => {
  const id = await store.insertJob(tx, {
    ...job,
    title: job.title.slice(0, titleLength),
    uuid: numberOf(job.uuid, job.userId),
  });
  if (id === null) throw new Refusal('conflict');
  const [view] = await viewJobs(tx, await store.jobsById(tx, [id]));
  if (!view) throw new Error('the job was not stored');
  return view;
};

/** Refuses a person who has too many jobs already, or guests whose network has; nobody else counts theirs until the commit. */
export const requireRoomForJob = async (tx: Transaction, userId: number): Promise<void> => {
  const ofLine = await store.lockLine(tx, userId);
  if (ofLine >= limits.jobsOfNetwork || (await store.countOpen(tx, userId)) >= limits.jobsAtOnce)
    throw new Refusal('too_many_jobs');
};
