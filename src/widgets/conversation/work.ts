import { ApiError, errorText } from '#src/platform/api-error.ts';
import { noteJob, onJobEnded } from '#src/platform/jobs.ts';
import { reportRefused, reportTime } from '#src/platform/report-time.ts';
import type { Job } from '#contract/job.ts';
import { perform } from '#src/platform/outbox.ts';
import { createStore, useStore } from '#src/platform/store.ts';
import { uuid } from '#src/platform/uuid.ts';
import type { Thread } from './thread.ts';

/** Why the work on a message was not begun, by its number. */
export interface Refused {
  code: number;
  message: string;
}

const refusals = createStore<ReadonlyMap<number, Refused>>(new Map());
/** Numbers of messages whose work is being asked for now. */
const asking = createStore<ReadonlySet<number>>(new Set());

export const useRefused = (id: number): Refused | undefined => useStore(refusals).get(id);
export const useAsking = (id: number): boolean => useStore(asking).has(id);

const refuse = (id: number, refused: Refused | null) => {
  const next = new Map(refusals.get());
  if (refused) next.set(id, refused);
  else next.delete(id);
  refusals.set(next);
};

const mark = (id: number, on: boolean) => {
  const next = new Set(asking.get());
  if (on) next.add(id);
  else next.delete(id);
  asking.set(next);
};

/** Works that were begun here, and when. */
const begun = new Map<string, number>();
const outcomes = { done: 'success', error: 'error', cancelled: 'stop' } as const;
onJobEnded(({ uuid: ended, state, model }) => {
  const asked = begun.get(ended);
  if (asked === undefined || state === 'queued' || state === 'running') return;
  begun.delete(ended);
  reportTime({ model, state: outcomes[state], asked, time: Date.now() - asked });
});

/** Tries of one call that got no answer; the server knows them by their number. */
const mostTries = 3;
const pause = 1_200;

/**
 * Begins the work on a message that is with the server. What stands against it is kept with it.
 * @param ask begins it under a number, and may be called again under the same
 */
export const beginWork = async (
  thread: Thread,
  id: number,
  ask: (request_id: string) => Promise<{ job: Job }>,
): Promise<void> => {
  if (asking.get().has(id)) return;
  refuse(id, null);
  mark(id, true);
  const request_id = uuid();
  const asked = Date.now();
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        const { job } = await ask(request_id);
        begun.set(job.uuid, asked);
        noteJob(job);
        thread.store.change(id, { job, ai: '', state: 'none', error_code: '', error_message: '' });
        return;
      } catch (error) {
        const unheard = error instanceof ApiError && error.status === 0;
        if (!unheard || tries >= mostTries) throw error;
        await new Promise((resolve) => {
          setTimeout(resolve, pause);
        });
      }
    }
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 0;
    reportRefused(thread.store.session?.model ?? '', asked, error);
    refuse(id, { code, message: errorText(error) });
  } finally {
    mark(id, false);
  }
};

/**
 * Sends a request whose work `begin` then begins; it stands in the list at once. Without a network
 * it waits in the outbox. Rejects with ApiError when the server did not take it: then the list is as
 * it was.
 */
export const sendWork = async (
  thread: Thread,
  work: {
    human: string;
    /** Of the session. */
    type: number;
    /** What the outbox begins by itself once it has sent it. */
    draw?: { n: number; size: number; translate: 0 | 1; request_id: string };
    begin: (id: number) => Promise<void>;
  },
): Promise<void> => {
  const { human, type, draw: drawn, begin } = work;
  const key = uuid();
  await thread.loader.toNewest().catch(() => {});
  const { unsent } = await thread.commands();
  const before = thread.store.get().lastId ?? 0;
  const id = unsent.put({ human, format: 1, type, state: 'none' }, key);
  try {
    const sent = await perform<'sendMessage'>({
      name: 'sendMessage',
      key,
      lane: thread.uuid,
      input: { session_id: thread.uuid, msg: human, format: 1 },
      made: new Date().toISOString(),
      before,
      ...(drawn ? { draw: drawn } : {}),
    });
    if (sent === null) return;
    unsent.settle(id, { id: sent.id, created_at: sent.created_at });
    await begin(sent.id);
  } catch (error) {
    unsent.settle(id, null);
    throw error;
  }
};
