import type { FastifyBaseLogger } from 'fastify';
import { Logger, run, runMigrations, type Runner } from 'graphile-worker';
import { codes } from '../../contract/errors.ts';
import type { Database } from '../db/database.ts';
import type { Instance } from '../db/instance.ts';
import type { SentOut } from '../engines/sent-out.ts';
import { tellEnded } from '../waits/wait-ended.ts';
import { JobError, type ClaimedJob, type JobEnd, type JobIo, type JobWork } from './job-kind.ts';
import * as store from './job.store.ts';

/** How often a job is tried whose service fails. */
const mostAttempts = 3;
/**
 * How many workers may die at it. A machine that is put off and on is not the job's fault, but none
 * may bring down worker after worker.
 */
const mostDeaths = 10;
/** Wait before the next try, ms; doubled each time. */
const retryMs = 2_000;
/** How often it is said that this process is still at its jobs, and others' are looked at, ms. */
const renewMs = 10_000;
const sweepMs = 5_000;
/** Least time between two notes of one job's progress, ms. */
const progressMs = 300;
/** How long work may go on after it was told to stop, ms. */
const graceMs = 3_000;
/** How long the end of a job may wait for the database, ms; its lease is over by then. */
const endMs = 60_000;

type Reason = 'cancelled' | 'late' | 'lost' | 'closing';

/** A job of this process. */
interface Live {
  stop: AbortController;
  /** Its person wants it no more. */
  asked: AbortController;
  /** Requests that are out at services. */
  out: Set<object>;
  reason: Reason | null;
  /** Called when its time is over. */
  timer: NodeJS.Timeout;
  finished: Promise<void>;
}

/** The job was ended by somebody else meanwhile. */
class LostJob extends Error {}

export interface JobsDeps {
  db: Database;
  connectionString: string;
  instance: Pick<Instance, 'id' | 'listen' | 'isAlive'>;
  log: FastifyBaseLogger;
  /** Jobs at once in this process; 0: none. */
  workers: number;
  kinds: readonly JobWork<unknown>[];
}

export type Jobs = Awaited<ReturnType<typeof createJobs>>;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Works on jobs. The row says what became of a job; the queue of graphile-worker only tells the
 * workers of all processes that there is one. A worker owns its job by a lease, and whoever ends it
 * does so in one transaction with what it delivered and its charge, if it is still the owner.
 */
export const createJobs = async (deps: JobsDeps) => {
  const { db, instance, log, workers } = deps;
  const kinds = new Map(deps.kinds.map((kind) => [kind.kind as string, kind]));
  const live = new Map<number, Live>();
  let closing = false;

  const kindOf = (job: Pick<ClaimedJob, 'kind'>): JobWork<unknown> => {
    const kind = kinds.get(job.kind);
    if (!kind) throw new Error(`nobody works on jobs of the kind ${job.kind}`);
    return kind;
  };

  // ---- ending ----------------------------------------------------------------------------------

  /**
   * Gives how it ended after all.
   * @throws LostJob when it is no longer in this state and this owner's
   */
  const end = async (
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
        errorMessage: failed ? ended.message : '',
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

  /** The same for an own job, however long the database takes to come back. */
  const endOwn = async (job: ClaimedJob, ended: JobEnd<unknown>): Promise<string> => {
    const until = Date.now() + endMs;
    for (let pause = 100; ; pause *= 2) {
      try {
        return await end({ id: job.id, state: 'running', owner: instance.id }, ended);
      } catch (error) {
        if (error instanceof LostJob || closing || Date.now() > until) throw error;
        log.error({ err: error, job: job.id }, 'a job could not be ended');
        await wait(Math.min(pause, 5_000));
      }
    }
  };

  const timeOver: JobEnd<never> = {
    state: 'error',
    codeName: 'engine_timeout',
    message: codes.engine_timeout.text,
  };

  // ---- working ---------------------------------------------------------------------------------

  const cut = (id: number, reason: Reason): void => {
    const entry = live.get(id);
    if (!entry || entry.reason) return;
    entry.reason = reason;
    entry.stop.abort(new Error(reason));
  };

  /** Its person stops it: at once, or once nothing of it is out at a service any more. */
  const recall = (id: number): void => {
    const entry = live.get(id);
    if (!entry || entry.reason) return;
    entry.asked.abort();
    if (entry.out.size === 0) cut(id, 'cancelled');
  };

  /** Follows what of a job is out at services, and notes in its row what nobody takes back. */
  const outOf = (id: number, { out, asked }: Live) => {
    let noting: Promise<void> = Promise.resolve();
    const note = (sent: boolean): void => {
      noting = noting
        .then(() => store.noteSent(db, instance.id, id, sent))
        .catch((error: unknown) => {
          log.warn({ err: error, job: id }, 'that a job was sent could not be noted');
        });
    };
    const sent: SentOut = (takeBack) => {
      const request = {};
      out.add(request);
      const over = (): void => {
        if (!out.delete(request) || out.size > 0) return;
        note(false);
        if (asked.signal.aborted) cut(id, 'cancelled');
      };
      const ask = async (): Promise<void> => {
        if (await takeBack?.().catch(() => false)) over();
        else if (out.has(request)) note(true);
      };
      if (takeBack) asked.signal.addEventListener('abort', () => void ask(), { once: true });
      else note(true);
      return over;
    };
    return { sent, noted: () => noting };
  };

  /** Notes progress at most so often, the newest last. */
  const progressOf = (id: number): { note: JobIo['progress']; settle: () => Promise<void> } => {
    let fraction = 0;
    let preview: (() => Promise<string>) | undefined;
    let changed = false;
    let busy: Promise<void> | null = null;
    let last = 0;
    const noteAll = async (): Promise<void> => {
      while (changed && live.has(id) && !live.get(id)?.reason) {
        await wait(Math.max(0, last + progressMs - Date.now()));
        last = Date.now();
        changed = false;
        const make = preview;
        preview = undefined;
        try {
          const image = make ? await make() : '';
          await store.noteProgress(db, instance.id, { id, progress: fraction, preview: image });
        } catch (error) {
          log.warn({ err: error, job: id }, 'the progress of a job could not be noted');
        }
      }
    };
    return {
      note: (now, image) => {
        // All of it is done when it is delivered, and not before.
        fraction = Math.min(0.99, Math.max(fraction, Number.isFinite(now) ? now : 0));
        preview = image ?? preview;
        changed = true;
        busy ??= noteAll().finally(() => {
          busy = null;
        });
      },
      settle: async () => {
        changed = false;
        await busy;
      },
    };
  };

  /** Works on a job that is this process's, and ends it or puts it back. */
  const work = async (job: ClaimedJob, entry: Live): Promise<void> => {
    const { signal } = entry.stop;
    const kind = kindOf(job);
    const begun = Date.now();
    const progress = progressOf(job.id);
    const out = outOf(job.id, entry);
    const placed: store.Place[] = [];
    const asked = new Map<number, store.Place>();
    const io: JobIo = {
      signal,
      stopped: entry.asked.signal,
      sent: out.sent,
      progress: progress.note,
      remember: (remote) => store.noteRemote(db, instance.id, job.id, remote),
      place: async ({ channelId, label, places }) => {
        const place = { channelId, places };
        asked.set(channelId, place);
        const got = await db.transaction((tx) =>
          store.claimPlace(tx, instance.id, { id: job.id, label, ...place }),
        );
        if (got) placed.push(place);
        return got;
      },
    };
    // Work that does not stop when it is told to is left alone; what it still gives is thrown away.
    const abandoned = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        setTimeout(() => reject(signal.reason as Error), graceMs).unref();
      });
    });
    const again = async (afterMs: number, counted: boolean): Promise<void> => {
      await store.putJobBack(db, instance.id, job.id, { channelId: null, counted });
      await store.enqueueJob(db, job.id, afterMs);
    };
    let result: unknown;
    let delivered = false;
    const working = kind.work(job, io);
    try {
      const outcome = await Promise.race([working, abandoned]);
      await progress.settle();
      await out.noted();
      if ('waitFor' in outcome) {
        const { waitFor: channelId } = outcome;
        await store.putJobBack(db, instance.id, job.id, { channelId, counted: false });
        // A place may have become free meanwhile.
        const place = asked.get(channelId);
        if (place) await store.wakeOne(db, place);
        return;
      }
      result = outcome.result;
      delivered = true;
      const state = await endOwn(job, { state: 'done', result });
      if (state !== 'done') await kind.discard(result);
    } catch (error) {
      await progress.settle();
      if (delivered) {
        await kind.discard(result);
        throw error;
      }
      working.then(
        (late) => ('result' in late ? kind.discard(late.result) : undefined),
        () => undefined,
      );
      if (entry.reason === 'lost') return;
      if (entry.reason === 'closing') return await again(0, false);
      if (entry.asked.signal.aborted || entry.reason === 'late') {
        await endOwn(job, entry.reason === 'late' ? timeOver : { state: 'cancelled' });
        return;
      }
      const known = error instanceof JobError;
      if (!known) log.error({ err: error, job: job.id }, 'a job failed in an unknown way');
      const turnInMs = known ? error.turnInMs : null;
      // The deadline is its own: what cannot come before it is told now.
      if (turnInMs !== null && Date.now() - begun + turnInMs < job.left_ms)
        return await again(turnInMs, false);
      const retriable = known ? error.retriable : true;
      if (retriable && job.attempts < mostAttempts)
        return await again(retryMs * 2 ** (job.attempts - 1), true);
      await endOwn(job, {
        state: 'error',
        codeName: known ? error.codeName : 'engine_failed',
        message: known ? error.message : codes.engine_failed.text,
      });
    } finally {
      for (const place of closing ? [] : placed)
        await store.wakeOne(db, place).catch((error: unknown) => {
          log.warn({ err: error }, 'waiting jobs could not be woken for now');
        });
    }
  };

  /** What a worker does with an entry of the queue. */
  const takeUp = async (id: number): Promise<void> => {
    if (closing || live.has(id)) return;
    const job = await store.claimJob(db, id, instance.id);
    if (!job) return;
    const entry: Live = {
      stop: new AbortController(),
      asked: new AbortController(),
      out: new Set(),
      reason: null,
      timer: setTimeout(() => cut(id, 'late'), Math.max(0, job.left_ms)),
      finished: Promise.resolve(),
    };
    live.set(id, entry);
    entry.finished = work(job, entry)
      .catch((error: unknown) => {
        if (!(error instanceof LostJob))
          log.error({ err: error, job: id }, 'a job is left to others');
      })
      .finally(() => {
        clearTimeout(entry.timer);
        live.delete(id);
      });
    await entry.finished;
  };

  const renew = async (): Promise<void> => {
    const ids = [...live.keys()];
    if (ids.length === 0) return;
    const mine = new Map(
      (await store.renewLeases(db, instance.id, ids)).map((row) => [row.id, row]),
    );
    for (const id of ids) {
      const row = mine.get(id);
      if (!row) cut(id, 'lost');
      else if (row.stop) recall(id);
      else if (row.left_ms <= 0) cut(id, 'late');
    }
  };

  // ---- jobs whose worker died, and those that nobody heard of ------------------------------------

  /** Ends what cannot go on, and lets go on what another worker left. */
  const tend = async (job: store.StrayJob, ownerLives: (id: number) => Promise<boolean>) => {
    const { id, state, owner } = job;
    if (state === 'queued') {
      if (job.cancel_requested) await end({ id, state, owner }, { state: 'cancelled' });
      else if (job.time_over) await end({ id, state, owner }, timeOver);
      return;
    }
    if (state !== 'running' || owner === null) return;
    if (owner === instance.id ? live.has(id) : !job.lease_over && (await ownerLives(owner))) return;
    const at = { id, state, owner };
    log.info({ job: id, owner }, 'taking over a job whose worker is gone');
    if (job.cancel_requested) await end(at, { state: 'cancelled' });
    else if (job.time_over) await end(at, timeOver);
    else if (job.attempts >= mostDeaths)
      await end(at, {
        state: 'error',
        codeName: 'engine_failed',
        message: codes.engine_failed.text,
      });
    else {
      await store.putJobBack(db, owner, id, { channelId: null, counted: true });
      await store.enqueueJob(db, id, 0);
    }
  };

  const sweep = async (): Promise<void> => {
    const alive = new Map<number, boolean>();
    const ownerLives = async (id: number): Promise<boolean> => {
      const known = alive.get(id) ?? (await instance.isAlive(id));
      alive.set(id, known);
      return known;
    };
    for (const job of await store.openStates(db)) {
      try {
        await tend(job, ownerLives);
      } catch (error) {
        if (!(error instanceof LostJob)) throw error;
      }
    }
    await store.wakeForgotten(db, 20);
  };

  // ---- the clockwork -----------------------------------------------------------------------------

  const timers: NodeJS.Timeout[] = [];
  const every = (ms: number, act: () => Promise<void>): void => {
    let busy = false;
    const once = async (): Promise<void> => {
      if (busy) return;
      busy = true;
      try {
        await act();
      } catch (error) {
        if (!closing) log.warn({ err: error }, 'a regular task of the jobs failed');
      } finally {
        busy = false;
      }
    };
    timers.push(setInterval(() => void once(), ms));
  };

  const queueLog = new Logger((scope) => (level: string, message) => {
    // A connection that broke it makes anew by itself.
    const mends = /trying again|UNLISTEN/.test(message);
    if (level === 'error' && !mends) log.error({ scope }, message);
    else if (level === 'error' || level === 'warning') log.warn({ scope }, message);
    else log.debug({ scope }, message);
  });
  await runMigrations({ connectionString: deps.connectionString, logger: queueLog });
  const runners: Runner[] = [];
  await instance.listen(store.stopChannel, (payload) => recall(Number(payload)));
  const begin = async (concurrency: number, tasks: readonly string[]): Promise<void> => {
    const act = (payload: unknown) => takeUp((payload as { id: number }).id);
    runners.push(
      await run({
        pgPool: db.$client,
        concurrency,
        noHandleSignals: true,
        pollInterval: 2_000,
        logger: queueLog,
        taskList: Object.fromEntries(tasks.map((name) => [name, act])),
      }),
    );
  };
  // Where there are several, one does nothing for guests, of whom there are as many as somebody likes.
  const forAll = Math.max(1, workers - 1);
  if (workers > 0) await begin(forAll, [store.task, store.guestTask]);
  if (workers > forAll) await begin(workers - forAll, [store.task]);
  await sweep();
  every(renewMs, renew);
  every(sweepMs, sweep);

  const cancelQueued = async (id: number): Promise<boolean> => {
    try {
      await end({ id, state: 'queued', owner: null }, { state: 'cancelled' });
      return true;
    } catch (error) {
      if (error instanceof LostJob) return false;
      throw error;
    }
  };

  return {
    /** Cancels a job that nobody works on yet; `false`: somebody does, or it has ended. */
    cancelQueued,
    /**
     * Stops a job of any process; true when it ends by that, or will. `false`: it had ended, or a
     * service has it that does not take it back; then it is delivered and paid.
     */
    cancel: async (id: number): Promise<boolean> => {
      if (await cancelQueued(id)) return true;
      await store.requestCancel(db, id);
      for (let waited = 0; waited < 5_000; waited += 50) {
        const [row] = await store.jobsById(db, [id]);
        if (!row || (row.state !== 'running' && row.state !== 'queued'))
          return row?.state === 'cancelled';
        if (row.sent) return false;
        await wait(50);
      }
      return true;
    },
    /** For the end of the process: what is worked on may end for some time, the rest waits again. */
    drain: async (ms: number): Promise<void> => {
      closing = true;
      for (const timer of timers) clearInterval(timer);
      // It takes no more entries from now on.
      const stopped = Promise.all(runners.map((runner) => runner.stop()));
      const running = () => Promise.all([...live.values()].map((entry) => entry.finished));
      await Promise.race([running(), wait(ms)]);
      for (const id of live.keys()) cut(id, 'closing');
      await Promise.race([running(), wait(graceMs + 2_000)]);
      await stopped;
    },
  };
};
