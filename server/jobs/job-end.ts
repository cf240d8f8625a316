import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { codes } from '#contract/errors.ts';
import type { Database } from '../db/database.ts';
import type { Instance } from '../db/instance.ts';
import { storableText } from '../storable.ts';
import { tellEnded } from '../waits/wait-ended.store.ts';
import type { ClaimedJob, JobEnd, JobWork } from './job-kind.ts';
import * as store from './job-work.store.ts';

/** How long the end of a job may wait for the database, ms; its lease is over by then. */
const endMs = 60_000;

/** The job was ended by somebody else meanwhile. */
export class LostJob extends Error {}

/** What whoever works on jobs, ends them or looks after them is given. */
export interface JobContext {
  db: Database;
  instance: Pick<Instance, 'id' | 'isAlive'>;
  log: FastifyBaseLogger;
  /** @throws Error: this process knows no such kind */
  kindOf: (job: Pick<ClaimedJob, 'kind'>) => JobWork<unknown>;
  /** The process is about to end. */
  isClosing: () => boolean;
}

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

/**
 * Ends a job in one transaction with what it delivered and its charge. Gives how it ended after all.
 * @throws LostJob when it is no longer in this state and this owner's
 */
export const endJob = async (
  { db, log, kindOf }: JobContext,
  at: { id: number; state: 'queued' | 'running'; owner: number | null },
  ended: JobEnd<unknown>,
): Promise<JobEnd<unknown>['state']> => {
  const { job, state } = await db.transaction(async (tx) => {
    const of = await store.kindAndSubject(tx, at.id);
    if (of) await kindOf(of).lock?.(tx, of);
    const job = await store.lockForEnd(tx, at);
    if (!job) throw new LostJob(`job ${at.id} was ended elsewhere`);
    const { state, deductTokens } = await kindOf(job).finish(tx, job, ended);
    const failed = ended.state === 'error' && state === 'error';
    await store.endJob(tx, at.id, {
      state,
      errorCode: failed ? codes[ended.codeName].code : 0,
      // A service's words may be among them.
      errorMessage: failed ? storableText(ended.message) : '',
      deductTokens,
    });
    await tellEnded(tx, 'job', job.uuid);
    return { job, state };
  });
  if (state !== 'done')
    await kindOf(job)
      .clear(job)
      .catch((error: unknown) => {
        log.warn({ err: error, job: job.id }, 'what a job left could not be taken away');
      });
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
      if (error instanceof LostJob || context.isClosing() || Date.now() > until) throw error;
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
