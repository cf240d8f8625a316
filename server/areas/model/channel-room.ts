import type { Database } from '#server/db/database.ts';
import { takeChannelRoom } from './channel-room.store.ts';

/** Where there was no room it is not asked about for so long, unless a call of this process ends, ms. */
const fullMs = 40;
/** After a question that the database did not answer it is told anew after this, ms. */
const againMs = 1_000;

/** How long one waits for room at channels that may have so many calls at once, and looks anew, ms. */
export const roomWait = { longest: 15_000, every: 50 };

/** A channel has as many calls under way as it may. */
export class NoRoom extends Error {}

/** What this process has running at a channel. */
interface Place {
  running: number;
  /** What the others know of it; null: nothing certain. */
  told: number | null;
  most: number;
  waiting: ((mayEnter: boolean) => void)[];
  busy: boolean;
  /** It is to be told anew after a while. */
  later: boolean;
  /** No room is expected before this. */
  fullUntil: number;
}

/**
 * Calls under way at channels that may have so many at once, those of all processes together. While
 * the database does not answer, each process counts for itself.
 */
export const createChannelRoom = (db: Database, instance: number) => {
  const places = new Map<number, Place>();
  let closed = false;

  /** Asks for those who wait, and tells what ended, in one question for all of them. */
  const ask = async (channelId: number, place: Place): Promise<void> => {
    const asking = place.waiting.splice(0);
    const { running, most } = place;
    let given: number;
    try {
      given = await takeChannelRoom(db, {
        channelId,
        instance,
        running,
        more: asking.length,
        most,
      });
      place.told = running + given;
    } catch {
      given = Math.max(0, Math.min(asking.length, most - place.running));
      place.told = null;
    }
    place.running += given;
    if (given < asking.length) place.fullUntil = performance.now() + fullMs;
    for (const [at, answer] of asking.entries()) answer(at < given);
  };

  const work = async (channelId: number, place: Place): Promise<void> => {
    if (place.busy || closed) return;
    place.busy = true;
    do {
      await ask(channelId, place);
    } while (place.waiting.length > 0 || (place.told !== null && place.told !== place.running));
    place.busy = false;
    if (place.told === null) workLater(channelId, place);
  };

  const workLater = (channelId: number, place: Place): void => {
    if (place.later) return;
    place.later = true;
    setTimeout(() => {
      place.later = false;
      void work(channelId, place);
    }, againMs).unref();
  };

  return {
    /** Takes one of its places; gives what leaves it again, or null where none is free. */
    enter: async (channelId: number, most: number): Promise<(() => void) | null> => {
      const place = places.get(channelId) ?? {
        running: 0,
        told: 0,
        most,
        waiting: [],
        busy: false,
        later: false,
        fullUntil: 0,
      };
      places.set(channelId, place);
      place.most = most;
      if (closed || performance.now() < place.fullUntil) return null;
      const mayEnter = await new Promise<boolean>((resolve) => {
        place.waiting.push(resolve);
        void work(channelId, place);
      });
      if (!mayEnter) return null;
      return () => {
        place.running -= 1;
        place.fullUntil = 0;
        void work(channelId, place);
      };
    },
    close: (): void => {
      closed = true;
      for (const { waiting } of places.values())
        for (const answer of waiting.splice(0)) answer(false);
    },
  };
};
export type ChannelRoom = ReturnType<typeof createChannelRoom>;
