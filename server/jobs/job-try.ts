import { engineFailed, endOwn, type JobContext, LostJob, timeOver } from './job-end.ts';
import { JobError, type ClaimedJob, type JobEnd, type JobIo, type JobWork } from './job-kind.ts';
import { traced } from '#server/tracing.ts';
import * as store from './job-work.store.ts';
import { followProgress, followSent, type LiveJob } from './live-job.ts';

/** How often a job is tried whose service fails. */
const mostAttempts = 3;
/** Wait before the next try, ms; doubled each time. */
const retryMs = 2_000;
/** How long work may go on after it was told to stop, ms. */
export const graceMs = 3_000;

/** The places that a job takes at services, or waits for. */
const placesOf = ({ db, instance, log, isClosing }: JobContext, id: number) => {
  const asked = new Map<number, store.Place>();
  const placed: store.Place[] = [];
  const take: JobIo['place'] = async ({ channelId, label, places }) => {
    const place = { channelId, places };
    asked.set(channelId, place);
    const got = await db.transaction((tx) =>
      store.claimPlace(tx, instance.id, { id, label, ...place }),
    );
    if (got) placed.push(place);
    return got;
  };
  return {
    take,
    /** The job waits for a place at this service. */
    waitFor: async (channelId: number): Promise<void> => {
      await store.putJobBack(db, instance.id, id, { channelId, counted: false });
      // A place may have become free meanwhile.
      const place = asked.get(channelId);
      if (place) await store.wakeOne(db, place);
    },
    /** Others may have the places now. */
    leave: async (): Promise<void> => {
      for (const place of isClosing() ? [] : placed)
        await store.wakeOne(db, place).catch((error: unknown) => {
          log.warn({ err: error }, 'waiting jobs could not be woken for now');
        });
    },
  };
};

/** Rejects some time after the work was told to stop: what does not stop is left alone. */
const abandoned = (signal: AbortSignal): Promise<never> =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      setTimeout(() => reject(signal.reason as Error), graceMs).unref();
    });
  });

const deliver = async (
  context: JobContext,
  kind: JobWork<unknown>,
  job: ClaimedJob,
  result: unknown,
): Promise<void> => {
  try {
    const state = await endOwn(context, job, { state: 'done', result });
    if (state !== 'done') await kind.discard(result);
  } catch (error) {
    await kind.discard(result);
    throw error;
  }
};

/** Ends a job whose work threw, or lets it wait for another try. @param spentMs on this try */
const endTry = async (
  context: JobContext,
  job: ClaimedJob,
  { asked, reason }: LiveJob,
  { error, spentMs }: { error: unknown; spentMs: number },
): Promise<void> => {
  const { db, instance, log } = context;
  const again = async (afterMs: number, counted: boolean): Promise<void> => {
    await store.putJobBack(db, instance.id, job.id, { channelId: null, counted });
    await store.enqueueJob(db, job.id, afterMs);
  };
  const end = async (ended: JobEnd<unknown>): Promise<void> => {
    await endOwn(context, job, ended);
  };
  if (reason === 'lost') throw new LostJob(`job ${job.id} is no longer this process's`);
  if (reason === 'closing') return again(0, false);
  if (reason === 'late') return end(timeOver);
  if (asked.signal.aborted) return end({ state: 'cancelled' });
  const known = error instanceof JobError ? error : null;
  if (!known) log.error({ err: error, job: job.id }, 'a job failed in an unknown way');
  const turnInMs = known?.turnInMs ?? null;
  // The deadline is its own: what cannot come before it is told now.
  if (turnInMs !== null && spentMs + turnInMs < job.left_ms) return again(turnInMs, false);
  if ((known?.retriable ?? true) && job.attempts < mostAttempts)
    return again(retryMs * 2 ** (job.attempts - 1), true);
  const { codeName, message } = known ?? engineFailed;
  return end({ state: 'error', codeName, message });
};

/**
 * Works on a job that is this process's, and ends it or puts it back.
 * @throws LostJob, or what kept it from being ended: then it is left to others
 */
export const workOn = async (
  context: JobContext,
  job: ClaimedJob,
  live: LiveJob,
): Promise<void> => {
  const { db, instance } = context;
  const kind = context.kindOf(job);
  const begun = Date.now();
  const progress = followProgress(context, live);
  const out = followSent(context, live);
  const places = placesOf(context, job.id);
  const tooLong = abandoned(live.stop.signal);
  let { remote: remembered } = job;
  const io: JobIo = {
    signal: live.stop.signal,
    stopped: live.asked.signal,
    sent: out.sent,
    progress: progress.note,
    remember: (remote) => {
      remembered = remote;
      return store.noteRemote(db, instance.id, job.id, remote);
    },
    othersWait: () => store.othersWait(db, job.user_id),
    place: places.take,
  };
  const working = traced(`job ${job.kind}`, { 'queqiao.job': job.id }, () => kind.work(job, io));
  try {
    let outcome;
    try {
      outcome = await Promise.race([working, tooLong]);
      await progress.settle();
      await out.noted();
      if ('waitFor' in outcome) return await places.waitFor(outcome.waitFor);
    } catch (error) {
      await progress.settle();
      // What abandoned work still gives is thrown away.
      working.then(
        (late) => ('result' in late ? kind.discard(late.result) : undefined),
        () => undefined,
      );
      return await endTry(context, job, live, { error, spentMs: Date.now() - begun });
    }
    await deliver(context, kind, job, outcome.result);
  } catch (error) {
    if (error instanceof LostJob && (await store.hasEnded(db, job.id)))
      // Whoever ended it knew not all that was left since.
      await kind.clear({ ...job, remote: remembered });
    throw error;
  } finally {
    await places.leave();
  }
};
