import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { codes } from '#contract/errors.ts';
import type { Database, Transaction } from '../db/database.ts';
import { databaseFailure, metOthers } from '../db/failure.ts';
import type { Instance } from '../db/instance.ts';
import { storableText } from '../storable.ts';
import { tellEnded } from '../waits/wait-ended.store.ts';
import type { ClaimedJob, JobEnd, JobWork } from './job-kind.ts';
import * as store from './job-work.store.ts';

/** How long the end of a job may wait for the database, ms; its lease is over by then. */
const endMs = 60_000;

/** The job was ended by somebody else meanwhile. */
export class LostJob extends Error {}

/** What whoever ends jobs is given. */
export interface EndContext {
  log: FastifyBaseLogger;
  /** @throws Error: this process knows no such kind */
  kindOf: (job: Pick<ClaimedJob, 'kind'>) => JobWork<unknown>;
  /** Gives back what is held for a job. */
  release: (tx: Transaction, holdId: string) => Promise<void>;
}

/** What whoever works on jobs, ends them or looks after them is given. */
export interface JobContext extends EndContext {
  db: Database;
  instance: Pick<Instance, 'id' | 'isAlive'>;
  /** The process is about to end. */
  isClosing: () => boolean;
}

/** A job that has not ended, as it was seen to be. */
type OpenJob = { id: number; state: 'queued' | 'running'; owner: number | null };

export const timeOver: JobEnd<never> = {
  state: 'error',
  codeName: 'engine_timeout',
  message: codes.engine_timeout.text,
};

export const engineFailed = {
  state: 'error',
  codeName: 'engine_failed',
  message: codes.engine_failed.text,
} as const satisfies JobEnd<never>;

/** Another try may do it: the database was away or full, or others were in the way. */
const mayPass = (error: unknown): boolean => databaseFailure(error) !== null || metOthers(error);

/** An end by which nothing is delivered says what was taken all the same. */
const truly = (end: JobEnd<unknown>, took: string | null): JobEnd<unknown> => {
  if (took === null || end.state === 'done') return end;
  if (end.state === 'cancelled') return { ...end, message: took };
  const told = end.message.replace('没有扣费', took);
  return { ...end, message: told === end.message ? `${told}（${took}）` : told };
};

/**
 * Ends a job within a transaction, with what it delivered and its charge. Of somebody who is gone
 * nothing is delivered. Gives the job, and how it ended after all.
 * @throws LostJob when it is no longer in this state and this owner's
 */
const endWithin = async (
  tx: Transaction,
  { kindOf }: Pick<EndContext, 'kindOf'>,
  at: OpenJob,
  asked: JobEnd<unknown>,
): Promise<{ job: ClaimedJob; state: JobEnd<unknown>['state'] }> => {
  const of = await store.kindAndSubject(tx, at.id);
  if (of) await kindOf(of).lock?.(tx, of);
  const job = await store.lockForEnd(tx, at);
  if (!job) throw new LostJob(`job ${at.id} was ended elsewhere`);
  const kind = kindOf(job);
  const took = kind.tookAllTheSame?.(job) ?? null;
  const ended = truly(job.gone ? { state: 'cancelled' } : asked, took);
  const { state, deductTokens } = await kind.finish(tx, job, ended);
  const failed = ended.state === 'error' && state === 'error';
  const told = ended.state !== 'done' && state === ended.state ? ended.message : '';
  await store.endJob(tx, at.id, {
    state,
    errorCode: failed ? codes[ended.codeName].code : 0,
    // A service's words may be among them.
    errorMessage: storableText(told ?? ''),
    deductTokens,
  });
  await tellEnded(tx, 'job', job.uuid);
  return { job, state };
};

/**
 * Ends the row of a job alone, whose kind cannot do it: its place and what it holds become free.
 * @throws LostJob
 */
const endRow = async (
  tx: Transaction,
  { release }: Pick<EndContext, 'release'>,
  at: OpenJob,
): Promise<{ job: ClaimedJob; state: 'error' }> => {
  const job = await store.lockForEnd(tx, at);
  if (!job) throw new LostJob(`job ${at.id} was ended elsewhere`);
  if (job.hold_id !== null) await release(tx, job.hold_id);
  const { code: errorCode, text: errorMessage } = codes.engine_failed;
  await store.endJob(tx, at.id, { state: 'error', errorCode, errorMessage, deductTokens: 0 });
  await tellEnded(tx, 'job', job.uuid);
  return { job, state: 'error' };
};

type Ended = Awaited<ReturnType<typeof endWithin>>;

/** Ends a job in the first way that can be gone. @throws LostJob, what may pass, what the last way met */
const firstOf = async (
  db: Database | Transaction,
  { log }: Pick<EndContext, 'log'>,
  { id }: OpenJob,
  ways: readonly ((tx: Transaction) => Promise<Ended>)[],
): Promise<Ended> => {
  let failure: unknown;
  for (const way of ways) {
    try {
      return await db.transaction(way);
    } catch (error) {
      if (error instanceof LostJob || mayPass(error)) throw error;
      log.error({ err: error, job: id }, 'a job could not be ended as it was to end');
      failure = error;
    }
  }
  throw failure;
};

/** Takes away what a job left that delivered nothing. */
const clearAfter = async ({ kindOf, log }: EndContext, job: ClaimedJob): Promise<void> => {
  try {
    await kindOf(job).clear(job);
  } catch (error) {
    log.warn({ err: error, job: job.id }, 'what a job left could not be taken away');
  }
};

/**
 * Ends a job in one transaction with what it delivered and its charge. What cannot be delivered has
 * failed: no job stays open, nor keeps a service's place, for more than a database that is away.
 * Gives how it ended after all. @throws LostJob, or what may pass
 */
export const endJob = async (
  context: JobContext,
  at: OpenJob,
  ended: JobEnd<unknown>,
): Promise<JobEnd<unknown>['state']> => {
  const { db } = context;
  const { job, state } = await firstOf(db, context, at, [
    (tx) => endWithin(tx, context, at, ended),
    (tx) => endWithin(tx, context, at, engineFailed),
    (tx) => endRow(tx, context, at),
  ]);
  if (state !== 'done') await clearAfter(context, job);
  return state;
};

/** The same for a job of this process, however long the database takes to come back. */
export const endOwn = async (
  context: JobContext,
  job: ClaimedJob,
  ended: JobEnd<unknown>,
): Promise<JobEnd<unknown>['state']> => {
  const { instance, log } = context;
  const until = Date.now() + endMs;
  for (let pause = 100; ; pause *= 2) {
    try {
      return await endJob(context, { id: job.id, state: 'running', owner: instance.id }, ended);
    } catch (error) {
      if (!mayPass(error) || context.isClosing() || Date.now() > until) throw error;
      log.error({ err: error, job: job.id }, 'a job could not be ended');
      await sleep(Math.min(pause, 5_000));
    }
  }
};

/** Cancels a job that nobody works on yet; `false`: somebody does, or it has ended. */
export const cancelQueued = async (context: JobContext, id: number): Promise<boolean> => {
  try {
    await endJob(context, { id, state: 'queued', owner: null }, { state: 'cancelled' });
    return true;
  } catch (error) {
    if (error instanceof LostJob) return false;
    throw error;
  }
};

/**
 * Ends all jobs of somebody who goes, in the transaction that takes away what is theirs; whoever
 * works on one is told, and what a service still gives for it is thrown away. Gives what takes away
 * the files that they left, once that is committed.
 */
export const endJobsOf = async (
  tx: Transaction,
  context: EndContext,
  userId: number,
): Promise<() => Promise<void>> => {
  const ended: ClaimedJob[] = [];
  const end = async (at: OpenJob): Promise<void> => {
    try {
      const { job } = await firstOf(tx, context, at, [
        (within) => endWithin(within, context, at, { state: 'cancelled' }),
        (within) => endRow(within, context, at),
      ]);
      ended.push(job);
      await store.tellWorker(tx, at.id);
    } catch (error) {
      // It goes on elsewhere, or has ended: the next look shows it.
      if (!(error instanceof LostJob)) throw error;
    }
  };
  for (
    let open = await store.openOf(tx, userId);
    open.length > 0;
    open = await store.openOf(tx, userId)
  )
    for (const at of open) await end(at);
  return async () => {
    for (const job of ended) await clearAfter(context, job);
  };
};
