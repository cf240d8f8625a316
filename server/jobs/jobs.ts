import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { Logger, run, runMigrations, type Runner } from 'graphile-worker';
import type pg from 'pg';
import { every } from '../every.ts';
import type { Database } from '../db/database.ts';
import type { Instance } from '../db/instance.ts';
import { cancelQueued, type JobContext, LostJob } from './job-end.ts';
import { type JobWork, kindAmong } from './job-kind.ts';
import { guestTask, stopChannel, task } from './job-sql.ts';
import { sweepJobs } from './job-sweep.ts';
import { graceMs, workOn } from './job-try.ts';
import { claimJob, renewLeases } from './job-work.store.ts';
import { jobsById, requestCancel } from './job.store.ts';
import { cut, type LiveJob, newLiveJob, recall } from './live-job.ts';

/** How often it is said that this process is still at its jobs, and others' are looked at, ms. */
const renewMs = 10_000;
const sweepMs = 5_000;
/** How long whoever cancels a job waits for its worker, ms. */
const cancelMs = 5_000;

export interface JobsDeps {
  db: Database;
  /** Where the queue listens and keeps prepared statements. */
  sessions: pg.Pool;
  connectionString: string;
  instance: Pick<Instance, 'id' | 'listen' | 'isAlive'>;
  log: FastifyBaseLogger;
  /** Jobs at once in this process; 0: none. */
  workers: number;
  kinds: readonly JobWork<unknown>[];
  /** Gives back what is held for a job. */
  release: JobContext['release'];
}

export type Jobs = Awaited<ReturnType<typeof createJobs>>;

/** The jobs that this process works on. */
const createLiveJobs = (context: JobContext) => {
  const { db, instance, log } = context;
  const live = new Map<number, LiveJob>();
  return {
    has: (id: number): boolean => live.has(id),

    /** Somebody stops a job, or has ended it: then nothing of it is waited for any more. */
    recall: async (id: number): Promise<void> => {
      const entry = live.get(id);
      if (!entry) return;
      recall(entry);
      if ((await renewLeases(db, instance.id, [id])).length === 0) cut(entry, 'lost');
    },

    /** What a worker does with an entry of the queue. */
    takeUp: async (id: number): Promise<void> => {
      if (context.isClosing() || live.has(id)) return;
      const job = await claimJob(db, id, instance.id);
      if (!job) return;
      const entry = newLiveJob(id);
      const timer = setTimeout(() => cut(entry, 'late'), Math.max(0, job.left_ms));
      live.set(id, entry);
      entry.finished = workOn(context, job, entry)
        .catch((error: unknown) => {
          if (!(error instanceof LostJob))
            log.error({ err: error, job: id }, 'a job is left to others');
        })
        .finally(() => {
          clearTimeout(timer);
          entry.reason ??= 'ended';
          live.delete(id);
        });
      await entry.finished;
    },

    /** Says that this process is still at its jobs; stops those that are no longer its own. */
    renew: async (): Promise<void> => {
      if (live.size === 0) return;
      const entries = [...live.values()];
      const rows = await renewLeases(
        db,
        instance.id,
        entries.map(({ id }) => id),
      );
      const mine = new Map(rows.map((row) => [row.id, row]));
      for (const entry of entries) {
        const row = mine.get(entry.id);
        if (!row) cut(entry, 'lost');
        else if (row.stop) recall(entry);
        else if (row.left_ms <= 0) cut(entry, 'late');
      }
    },

    /** Lets what is worked on end within so many ms; the rest waits again. */
    end: async (ms: number): Promise<void> => {
      const running = () => Promise.all([...live.values()].map((entry) => entry.finished));
      await Promise.race([running(), sleep(ms)]);
      for (const entry of live.values()) cut(entry, 'closing');
      await Promise.race([running(), sleep(graceMs + 2_000)]);
    },
  };
};

const queueLog = (log: FastifyBaseLogger): Logger =>
  new Logger((scope) => (level: string, message) => {
    // A connection that broke it makes anew by itself.
    const mends = /trying again|UNLISTEN/.test(message);
    if (level === 'error' && !mends) log.error({ scope }, message);
    else if (level === 'error' || level === 'warning') log.warn({ scope }, message);
    else log.debug({ scope }, message);
  });

/** Takes entries out of the queue: so many at once, and some of them for others than guests alone. */
const startWorkers = async (
  { sessions, connectionString, log, workers }: JobsDeps,
  takeUp: (id: number) => Promise<void>,
): Promise<Runner[]> => {
  const logger = queueLog(log);
  await runMigrations({ connectionString, logger });
  const begin = (concurrency: number, tasks: readonly string[]): Promise<Runner> => {
    const act = (payload: unknown) => takeUp((payload as { id: number }).id);
    return run({
      pgPool: sessions,
      concurrency,
      noHandleSignals: true,
      pollInterval: 2_000,
      logger,
      taskList: Object.fromEntries(tasks.map((name) => [name, act])),
    });
  };
  // Where there are several, one does nothing for guests, of whom there are as many as somebody likes.
  const forAll = Math.max(1, workers - 1);
  const runners = [];
  if (workers > 0) runners.push(await begin(forAll, [task, guestTask]));
  if (workers > forAll) runners.push(await begin(workers - forAll, [task]));
  return runners;
};

/**
 * Works on jobs. The row says what became of a job; the queue of graphile-worker only tells the
 * workers of all processes that there is one. A worker owns its job by a lease, and whoever ends it
 * does so in one transaction with what it delivered and its charge, if it is still the owner.
 */
export const createJobs = async (deps: JobsDeps) => {
  const { db, instance, log } = deps;
  let closing = false;
  const context: JobContext = {
    db,
    instance,
    log,
    kindOf: kindAmong(deps.kinds),
    release: deps.release,
    isClosing: () => closing,
  };
  const live = createLiveJobs(context);
  const sweep = () => sweepJobs(context, live.has);
  const failed = (err: unknown): void => {
    if (!closing) log.warn({ err }, 'a regular task of the jobs failed');
  };
  await instance.listen(stopChannel, (payload) => {
    live.recall(Number(payload)).catch(failed);
  });
  const runners = await startWorkers(deps, live.takeUp);
  await sweep();
  const timers = [every(renewMs, live.renew, failed), every(sweepMs, sweep, failed)];

  return {
    /** Cancels a job that nobody works on yet; `false`: somebody does, or it has ended. */
    cancelQueued: (id: number): Promise<boolean> => cancelQueued(context, id),
    /**
     * Stops a job of any process; true when it ends by that, or will. `false`: it had ended, or a
     * service has it that does not take it back; then it is delivered and paid.
     */
    cancel: async (id: number): Promise<boolean> => {
      if (await cancelQueued(context, id)) return true;
      await requestCancel(db, id);
      for (let waited = 0; waited < cancelMs; waited += 50) {
        const [row] = await jobsById(db, [id]);
        if (!row || (row.state !== 'running' && row.state !== 'queued'))
          return row?.state === 'cancelled';
        if (row.sent) return false;
        await sleep(50);
      }
      return true;
    },
    /** For the end of the process: what is worked on may end for some ms, the rest waits again. */
    drain: async (ms: number): Promise<void> => {
      if (closing) return;
      closing = true;
      for (const timer of timers) clearInterval(timer);
      // It takes no more entries from now on.
      const stopped = Promise.all(runners.map((runner) => runner.stop()));
      await live.end(ms);
      await stopped;
    },
  };
};
