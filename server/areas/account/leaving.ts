import type { FastifyBaseLogger } from 'fastify';
import type { Area } from '#server/area.ts';
import type { Database } from '#server/db/database.ts';
import { givingWay } from '#server/db/giving-way.ts';
import { eraseHeld, type Held } from '#server/db/held.ts';
import { openJobsOfPerson } from '#server/jobs/job.service.ts';
import { closeWallet } from '../ledger/ledger.service.ts';
import { setVipEnd } from '../ledger/vip.service.ts';
import { emptySessions } from '../chat/leave-chat.service.ts';
import { busyAmong, deleteAllOf } from '../session/session.service.ts';
import * as store from './account.store.ts';

export interface LeavingDeps {
  db: Database;
  log: FastifyBaseLogger;
  /** All places that hold what is a person's. */
  held: () => readonly Held[];
  /** What areas take away besides; each gives what takes files away after the commit. */
  leave: () => readonly NonNullable<Area['leave']>[];
  /** Ends all long works that the person has; gives what takes away what they left. */
  endJobs: NonNullable<Area['leave']>;
}

/** How long sessions are emptied at a time, ms: the clock goes on with what is left. */
const sittingMs = 20_000;
/** How long an account rests that could not be emptied, ms. */
const restMs = 3_600_000;

/**
 * The end of an account, in three steps. First it is shut: nobody enters it any more. What still runs
 * is stopped. Then its sessions are emptied, in parts that last, and at the end all else that was the
 * person's goes at once, with what did not let itself be stopped: what a service was asked for is not
 * paid, and thrown away when it comes. What writes for it afterwards is refused by the database. All
 * give way to what is under way, which may hold rows in any order.
 */
export const createLeaving = ({ db, log, held, leave, endJobs }: LeavingDeps) => {
  const resting = new Map<number, number>();
  const empty = async (userId: number, until = Date.now() + sittingMs): Promise<void> => {
    if (!(await emptySessions(db, userId, until))) {
      log.info({ userId }, 'an account that ended is emptied further in the next minutes');
      return;
    }
    const drops = await givingWay(db, async (tx) => {
      if (!(await store.lockLeaving(tx, userId))) return [];
      // While there still is what they were to make, and a wallet that their holds go back to.
      const files = [await endJobs(tx, userId)];
      await setVipEnd(tx, userId, null);
      await closeWallet(tx, userId);
      await deleteAllOf(tx, userId);
      for (const area of leave()) files.push(await area(tx, userId));
      // The person's own row says that it is done: it goes last.
      const places = held();
      const own = (place: Held) => place.table === 'users';
      await eraseHeld(
        tx,
        places.filter((place) => !own(place)),
        userId,
      );
      await eraseHeld(tx, places.filter(own), userId);
      return files;
    });
    for (const drop of drops)
      await drop().catch((error: unknown) =>
        log.error({ err: error, userId }, 'files of an ended account could not be taken away'),
      );
  };

  return {
    /**
     * Ends an account. False: it was ended by somebody else meanwhile.
     * @param stop stops what is being made in these sessions, and these jobs
     */
    end: async (
      userId: number,
      stop: (what: { sessions: number[]; jobs: number[] }) => Promise<void>,
    ): Promise<boolean> => {
      const shut = await givingWay(db, (tx) => store.shutAccount(tx, userId));
      if (!shut) return false;
      const ids = await store.sessionsOf(db, userId);
      await stop({
        sessions: ids.length > 0 ? await busyAmong(db, ids) : [],
        jobs: (await openJobsOfPerson(db, userId)).map(({ id }) => id),
      });
      await empty(userId);
      return true;
    },

    /** Empties accounts that were shut by a process that then stopped. */
    finishOthers: async (): Promise<void> => {
      const until = Date.now() + sittingMs;
      for (const [userId, at] of resting) if (at < Date.now()) resting.delete(userId);
      for (const userId of await store.leftShut(db, [...resting.keys()])) {
        if (Date.now() > until) return;
        try {
          await empty(userId, until);
        } catch (error) {
          resting.set(userId, Date.now() + restMs);
          log.error({ err: error, userId }, 'an account that ended could not be emptied');
        }
      }
    },
  };
};
