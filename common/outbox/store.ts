import { isBroken } from './storage-full.ts';
import type { Act, ActStore, Failure } from './act.ts';

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

type Change = Parameters<ActStore['change']>[1];

/** A store that goes on where nothing can be written down. */
export interface RoomlessStore extends ActStore {
  /** Has an act in memory alone, after all that is there. */
  hold: (act: Omit<Act, 'id'>) => void;
  /** What is in memory alone, in its order. */
  held: () => readonly Act[];
  /** What was held is written down now, as the act of this number; false: it was gone already. */
  written: (id: number, as: number) => boolean;
  /** What is held for one account is another's. */
  handOver: (from: string, to: string) => void;
  /** Forgets acts without their bytes, wherever they are; what was written down has to be gone already. */
  drop: (ids: readonly number[]) => void;
  /** An act has been written down: it is known before it is read. */
  added: (act: Act) => void;
  /** The browser closed the storage, and may have thrown away what was in it. */
  doubt: () => void;
  /** False: what was written down could not be read when it was last asked for. */
  readable: () => boolean;
}

/** Numbers of acts in memory: behind all that a database gives. */
const firstHeld = 2 ** 40;

/**
 * Sending needs no room: what a full device can not write down is remembered as long as this lives,
 * and what it can no longer read is known as it was read last: a browser whose disk is full may throw
 * its whole storage away. Who comes after finds an act as it was; its key keeps it from being done twice.
 */
export const withoutRoom = (store: ActStore): RoomlessStore => {
  const changes = new Map<number, Change>();
  const gone = new Set<number>();
  const inMemory = new Map<number, Act>();
  /** Of acts that were held and are written down by now, their numbers there. */
  const moved = new Map<number, number>();
  let known: readonly Act[] = [];
  let couldRead = true;
  let doubted = false;
  let next = firstHeld;

  const hold = (act: Omit<Act, 'id'>): void => {
    inMemory.set(next, { ...act, id: next } as Act);
    next += 1;
  };
  /** What was known and is not there any more is held, before all that is. */
  const restoreLost = (there: readonly Act[]): void => {
    const left = new Set([...there, ...inMemory.values()].map(({ key }) => key));
    const lost = known.filter(({ id, key }) => !left.has(key) && !gone.has(id));
    if (lost.length === 0) return;
    const later = [...inMemory];
    inMemory.clear();
    for (const act of lost) hold({ ...act, ...changes.get(act.id) });
    for (const [id, act] of later) inMemory.set(id, act);
  };
  const read = async (): Promise<readonly Act[]> => {
    try {
      const there = await store.all();
      // What somebody else did meanwhile is done with its key once more, which changes nothing.
      if (doubted) restoreLost(there);
      doubted = false;
      known = there;
      couldRead = true;
    } catch (error) {
      if (!isBroken(error)) throw error;
      couldRead = false;
      doubted = true;
    }
    return known;
  };
  const all = async (): Promise<Act[]> =>
    [
      ...(await read())
        .filter(({ id }) => !gone.has(id))
        .map((act) => ({ ...act, ...changes.get(act.id) })),
      ...inMemory.values(),
      // One that was tried at once and refused for now is written down after those that came later.
    ].sort((a, b) => (a.made < b.made ? -1 : Number(a.made > b.made)));
  return {
    ...store,
    all,
    change: async (asked, change) => {
      const act = inMemory.get(asked);
      if (act) {
        inMemory.set(asked, { ...act, ...change });
        return true;
      }
      const id = moved.get(asked) ?? asked;
      const whole = { ...changes.get(id), ...change };
      try {
        const there = await store.change(id, whole);
        changes.delete(id);
        return there && !gone.has(id);
      } catch (error) {
        if (!isBroken(error)) throw error;
        doubted = true;
        changes.set(id, whole);
        return (await all()).some((act) => act.id === id);
      }
    },
    remove: async (asked) => {
      const ids = asked.filter((id) => !inMemory.delete(id)).map((id) => moved.get(id) ?? id);
      if (ids.length === 0) return;
      known = known.filter(({ id }) => !ids.includes(id));
      try {
        await store.remove(ids);
      } catch (error) {
        if (!isBroken(error)) throw error;
        for (const id of ids) gone.add(id);
      }
    },
    blob: async (id) => {
      try {
        return await store.blob(id);
      } catch (error) {
        if (!isBroken(error)) throw error;
        // It is there, and can be read once there is room.
        const later: Failure = { status: 0, code: 0, message: '', wait: 0 };
        throw later;
      }
    },
    hold,
    held: () => [...inMemory.values()],
    written: (id, as) => {
      if (!inMemory.delete(id)) return false;
      moved.set(id, as);
      return true;
    },
    handOver: (from, to) => {
      for (const [id, act] of inMemory)
        if (act.account === from) inMemory.set(id, { ...act, account: to });
    },
    drop: (ids) => {
      for (const id of ids) if (!inMemory.delete(id)) gone.add(moved.get(id) ?? id);
    },
    added: (act) => {
      known = [...known, act];
    },
    doubt: () => {
      doubted = true;
    },
    readable: () => couldRead,
  };
};
