import { isFull } from './storage-full.ts';
import type { Act, ActStore } from './engine.ts';

/** Bytes that wait to be uploaded, of a draft or of an act. */
export interface KeptBlob {
  id: string;
  account: string;
  blob: Blob;
}

const answerOf = <T>(asked: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    asked.addEventListener('success', () => resolve(asked.result));
    asked.addEventListener('error', () => reject(asked.error ?? new Error('the storage failed')));
  });

const ended = (transaction: IDBTransaction): Promise<void> => {
  const end = new Promise<void>((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () =>
      reject(transaction.error ?? new Error('the storage gave up')),
    );
  });
  // Whoever fails before it waits for the end says why.
  end.catch(() => undefined);
  return end;
};

/** What waits, in the database of page and worker. @param open gives it with its tables */
export const actStoreOn = (open: () => Promise<IDBDatabase>): ActStore => ({
  all: async () => {
    const acts = (await open()).transaction('acts').objectStore('acts');
    return answerOf<Act[]>(acts.getAll());
  },
  change: async (id, change) => {
    const transaction = (await open()).transaction('acts', 'readwrite');
    const whole = ended(transaction);
    const acts = transaction.objectStore('acts');
    const act = await answerOf<Act | undefined>(acts.get(id));
    if (act) acts.put({ ...act, ...change });
    await whole;
    return act !== undefined;
  },
  remove: async (ids) => {
    const transaction = (await open()).transaction(['acts', 'blobs'], 'readwrite');
    const whole = ended(transaction);
    const acts = transaction.objectStore('acts');
    const blobs = transaction.objectStore('blobs');
    for (const id of ids) {
      const act = await answerOf<Act | undefined>(acts.get(id));
      for (const part of act?.parts ?? []) blobs.delete(part.id);
      acts.delete(id);
    }
    await whole;
  },
  blob: async (id) => {
    const blobs = (await open()).transaction('blobs').objectStore('blobs');
    return (await answerOf<KeptBlob | undefined>(blobs.get(id)))?.blob;
  },
});

/**
 * Sending needs no room: what a full device can not write down of an act is remembered as long as
 * this lives. Who comes after finds the act as it was; its key keeps it from being done twice.
 */
export const withoutRoom = (store: ActStore): ActStore => {
  const changes = new Map<number, Parameters<ActStore['change']>[1]>();
  const gone = new Set<number>();
  const all = async () =>
    (await store.all())
      .filter(({ id }) => !gone.has(id))
      .map((act) => ({ ...act, ...changes.get(act.id) }));
  return {
    ...store,
    all,
    change: async (id, change) => {
      const whole = { ...changes.get(id), ...change };
      try {
        const there = await store.change(id, whole);
        changes.delete(id);
        return there && !gone.has(id);
      } catch (error) {
        if (!isFull(error)) throw error;
        changes.set(id, whole);
        return (await all()).some((act) => act.id === id);
      }
    },
    remove: async (ids) => {
      try {
        await store.remove(ids);
      } catch (error) {
        if (!isFull(error)) throw error;
        for (const id of ids) gone.add(id);
      }
    },
  };
};
