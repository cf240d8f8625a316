import { ApiError, errorText } from '@/shared/api-error.ts';
import { api } from '@/shared/api.ts';
import { noteJob } from '@/shared/jobs.ts';
import { perform } from '@/shared/outbox.ts';
import { createStore, useStore } from '@/shared/store.ts';
import { uuid } from '@/shared/uuid.ts';
import type { Asked } from './picture-request.ts';
import type { Thread } from './thread.ts';

/** Why a message's pictures were not begun, by its number. */
export interface Refused {
  code: number;
  message: string;
}

const refusals = createStore<ReadonlyMap<number, Refused>>(new Map());
/** Numbers of messages whose pictures are being asked for now. */
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

/** Tries of one call that got no answer; the server knows them by their number. */
const mostTries = 3;
const pause = 1_200;

/** Begins the pictures of a message that is with the server. What stands against it is kept with it. */
export const generate = async (thread: Thread, id: number, asked: Asked): Promise<void> => {
  if (asking.get().has(id)) return;
  refuse(id, null);
  mark(id, true);
  const { n, size, translate } = asked.image;
  const request_id = uuid();
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        const { job } = await api.generateImage(
          { history_id: id, request_id, n, size, translate },
          { quiet: true, idempotencyKey: request_id },
        );
        noteJob(job);
        thread.change(id, { job, ai: '', state: 'none', error_code: '', error_message: '' });
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
    refuse(id, { code, message: errorText(error) });
  } finally {
    mark(id, false);
  }
};

/**
 * Sends a request and begins its pictures; it stands in the list at once. Without a network it waits
 * in the outbox. Rejects with ApiError when the server did not take it: then the list is as it was.
 */
export const draw = async (thread: Thread, asked: Asked): Promise<void> => {
  const human = JSON.stringify(asked);
  const { n, size, translate } = asked.image;
  const key = uuid();
  await thread.toNewest().catch(() => {});
  const writing = await thread.writing();
  const before = thread.get().lastId ?? 0;
  const id = writing.put({ human, format: 1, type: 1, state: 'none' }, key);
  try {
    const sent = await perform<'sendMessage'>({
      name: 'sendMessage',
      key,
      lane: thread.uuid,
      input: { session_id: thread.uuid, msg: human, format: 1 },
      made: new Date().toISOString(),
      before,
      draw: { n, size, translate, request_id: uuid() },
    });
    if (sent === null) return;
    writing.settle(id, { id: sent.id, created_at: sent.created_at });
    await generate(thread, sent.id, asked);
  } catch (error) {
    writing.settle(id, null);
    throw error;
  }
};
