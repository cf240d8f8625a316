import type { Job, JobEvent } from '#contract/job.ts';
import { limits } from '#contract/limits.ts';
import { useSyncExternalStore } from 'react';
import { ApiError } from './api-error.ts';
import { api } from './api.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { callTable } from '#common/call-table.ts';
import { refreshScreens } from './query-client.ts';
import { runningJobs } from './running-jobs.ts';
import { isStream, pause, readEvents } from './stream.ts';
import { waiting } from './waiting.ts';

/** So long after the stream has opened, what it has not told of must have ended before, ms. */
const settling = 1_500;
/** Ended jobs that are remembered, so that a late word of one does not bring it back. */
const mostKept = 200;

const jobs = new Map<string, JobEvent>();
const listeners = new Set<() => void>();
const endings = new Set<(job: Job) => void>();
let version = 0;
let reading: AbortController | null = null;
let account = accountOf(authStore.get().token);

/** It waits or is worked on. */
export const isUnfinished = (job: Job): boolean =>
  job.state === 'queued' || job.state === 'running';

const unfinished = (): Job[] => [...jobs.values()].map(({ job }) => job).filter(isUnfinished);

const publish = () => {
  version += 1;
  for (const listener of listeners) listener();
};

const forgetOld = () => {
  for (const [uuid, { job }] of jobs) {
    if (jobs.size <= mostKept) return;
    if (!isUnfinished(job)) jobs.delete(uuid);
  }
};

const take = (event: JobEvent): void => {
  const { uuid } = event.job;
  const before = jobs.get(uuid);
  // What has ended never begins again.
  if (before && !isUnfinished(before.job) && isUnfinished(event.job)) return;
  const image =
    event.current_image || (isUnfinished(event.job) ? (before?.current_image ?? '') : '');
  jobs.set(uuid, { job: event.job, current_image: image });
  if (!isUnfinished(event.job)) waiting.delete(`job:${uuid}`);
  else if (!waiting.has(`job:${uuid}`)) waiting.set(`job:${uuid}`, Date.now());
  const ended = !isUnfinished(event.job) && before !== undefined && isUnfinished(before.job);
  if (ended) {
    forgetOld();
    for (const listener of endings) listener(event.job);
    // Balance, lists and cards changed with it.
    void refreshScreens();
  }
  runningJobs.set(unfinished().length);
  publish();
};

/** Asks how one stands; what the server does not know any more has ended. */
const ask = async (job: Job, signal: AbortSignal): Promise<void> => {
  try {
    const { job: fresh, current_image } = await api.imageProgress(
      { request_id: job.uuid },
      { signal, quiet: true },
    );
    take({ job: fresh, current_image });
  } catch (error) {
    if (!(error instanceof ApiError)) return;
    // A failed one is told of with the failure's own code.
    const told = error.data as JobEvent | null;
    if (told?.job) take({ job: told.job, current_image: told.current_image });
    else if (error.status === 404)
      take({ job: { ...job, state: 'cancelled', finished_at: job.created_at }, current_image: '' });
  }
};

const askAll = (signal: AbortSignal, which = unfinished()) =>
  Promise.all(which.map((job) => ask(job, signal)));

const follow = async (abort: AbortController): Promise<void> => {
  const { signal } = abort;
  let tries = 0;
  while (!signal.aborted) {
    const told = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await readEvents(callTable.jobEvents.path, {
        last: '',
        signal,
        onOpen: (response) => {
          if (!isStream(response)) return Promise.reject(new Error(`status ${response.status}`));
          timer = setTimeout(() => {
            void askAll(
              signal,
              unfinished().filter(({ uuid }) => !told.has(uuid)),
            );
          }, settling);
          return Promise.resolve();
        },
        onEvent: (_id, data) => {
          if (data === '') return;
          tries = 0;
          const event = JSON.parse(data) as JobEvent;
          told.add(event.job.uuid);
          take(event);
          if (unfinished().length === 0) stop();
        },
      });
    } catch {
      // Whatever it was: they are asked for one by one until the stream is back.
    }
    clearTimeout(timer);
    if (signal.aborted) return;
    tries += 1;
    await pause(Math.min(limits.jobPolling, 400 * 2 ** tries), signal);
    if (signal.aborted) return;
    await askAll(signal);
    if (unfinished().length === 0) stop();
  }
};

const stop = () => {
  reading?.abort();
  reading = null;
};

const start = () => {
  if (reading || unfinished().length === 0 || authStore.get().token === '') return;
  reading = new AbortController();
  void follow(reading);
};

/**
 * Tells of a job as an answer of the server had it; one that has not ended is followed from then on.
 * False: it is known to have ended since, so that the answer is an old one.
 */
export const noteJob = (job: Job): boolean => {
  const known = jobs.get(job.uuid);
  if (known && !isUnfinished(known.job)) return !isUnfinished(job);
  if (known && isUnfinished(job)) return true;
  take({ job, current_image: '' });
  start();
  return true;
};

/** Reads which jobs of the person have not ended, and follows them. */
export const findJobs = async (): Promise<void> => {
  if (authStore.get().token === '') return;
  const { list } = await api.jobList({ page: 1, running: 1 }, { quiet: true });
  for (const job of list) noteJob(job);
  runningJobs.set(unfinished().length);
};

/** Hears of each job that was followed here and has ended. Gives what ends that. */
export const onJobEnded = (listener: (job: Job) => void): (() => void) => {
  endings.add(listener);
  return () => {
    endings.delete(listener);
  };
};

authStore.subscribe(() => {
  const now = accountOf(authStore.get().token);
  if (now === account) return;
  account = now;
  stop();
  jobs.clear();
  runningJobs.set(0);
  publish();
});

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

/** How a job stands now: as followed here, else as it was told. */
export const useJob = (told: Job | null): JobEvent | null => {
  const live = useSyncExternalStore(subscribe, () => (told ? jobs.get(told.uuid) : undefined));
  if (live && !(told && !isUnfinished(told) && isUnfinished(live.job))) return live;
  return told && { job: told, current_image: '' };
};

let listed: { version: number; jobs: readonly Job[] } = { version: -1, jobs: [] };
const list = (): readonly Job[] => {
  if (listed.version !== version) listed = { version, jobs: unfinished() };
  return listed.jobs;
};

/** The person's jobs that have not ended, as far as they are followed here. */
export const useUnfinishedJobs = (): readonly Job[] => useSyncExternalStore(subscribe, list);
