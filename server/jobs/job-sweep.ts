import { endJob, engineFailed, type JobContext, LostJob, timeOver } from './job-end.ts';
import { databaseFailure } from '../db/failure.ts';
import * as store from './job-work.store.ts';

/**
 * How many workers may die at it. A machine that is put off and on is not the job's fault, but none
 * may bring down worker after worker.
 */
const mostDeaths = 10;
const wokenAtOnce = 20;

/** Ends what cannot go on, and lets go on what another worker left. */
const tend = async (
  context: JobContext,
  job: store.StrayJob,
  isWorkedOn: (id: number, owner: number) => Promise<boolean>,
): Promise<void> => {
  const { id, state, owner } = job;
  const { db, log } = context;
  if (state === 'running') {
    if (owner === null || (await isWorkedOn(id, owner))) return;
    log.info({ job: id, owner }, 'taking over a job whose worker is gone');
  } else if (state !== 'queued') return;
  const at = { id, state, owner };
  if (job.cancel_requested) await endJob(context, at, { state: 'cancelled' });
  else if (job.time_over) await endJob(context, at, timeOver);
  else if (owner === null || state === 'queued') return;
  else if (job.attempts >= mostDeaths) await endJob(context, at, engineFailed);
  else {
    await store.putJobBack(db, owner, id, { channelId: null, counted: true });
    await store.enqueueJob(db, id, 0);
  }
};

/**
 * Looks after all open jobs: those whose worker died, and those that nobody heard of.
 * @param isLive whether this process works on a job
 */
export const sweepJobs = async (
  context: JobContext,
  isLive: (id: number) => boolean,
): Promise<void> => {
  const { db, instance, log } = context;
  const alive = new Map<number, boolean>();
  const ownerLives = async (id: number): Promise<boolean> => {
    const known = alive.get(id) ?? (await instance.isAlive(id));
    alive.set(id, known);
    return known;
  };
  for (const job of await store.openStates(db)) {
    try {
      await tend(context, job, async (id, owner) =>
        owner === instance.id ? isLive(id) : !job.lease_over && (await ownerLives(owner)),
      );
    } catch (error) {
      if (error instanceof LostJob) continue;
      if (databaseFailure(error) === 'unavailable') throw error;
      // One that cannot be ended keeps none of the others.
      log.error({ err: error, job: job.id }, 'a job could not be looked after');
    }
  }
  await store.wakeForgotten(db, wokenAtOnce);
};
