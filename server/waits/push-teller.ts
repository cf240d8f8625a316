import { isIP } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { WaitRef, WaitResult } from '#contract/wait.ts';
import type { Database } from '../db/database.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { createPush } from './push.ts';
import type { readWaits } from './wait-source.ts';
import * as store from './wait.store.ts';

const pushesAtOnce = 20;
/** Seconds until the next try, after each one that failed; then it is given up. */
const pauses = [5, 30, 120, 600, 1800];
/** The push services of the browsers; whoever names another may name one that never answers. */
const knownServices = new Set(['googleapis.com', 'mozilla.com', 'apple.com', 'windows.com']);
/** Where countries have names given out below names of their own, such as co.uk and com.cn. */
const registries = /^(?:ac|co|com|edu|gob|gov|ne|net|or|org)\.[a-z]{2}$/;

/** What one owner of a name has, however many hosts they call by it. */
export const siteOf = (endpoint: string): string => {
  const { hostname } = new URL(endpoint);
  const labels = hostname.split('.');
  const top = labels.slice(-2).join('.');
  return isIP(hostname) > 0 ? hostname : registries.test(top) ? labels.slice(-3).join('.') : top;
};

export const keyOf = ({ kind, id }: WaitRef): string => `${kind}:${id}`;

type Asked = Parameters<typeof readWaits>[2];

/** Tells browsers what has ended: each of it once, again later where a push service fails. */
export const createPushTeller = ({
  db,
  log,
  send,
  read,
}: {
  db: Database;
  log: Pick<FastifyBaseLogger, 'warn'>;
  send: ReturnType<typeof createPush>;
  read: (asked: Asked) => Promise<WaitResult[]>;
}) => {
  const inTurn = createFairQueue(pushesAtOnce);
  /** A device's turn: of one owner, or of one strange push service, one message is on its way at once. */
  const limit = <T>(
    { endpoint, userId }: { endpoint: string; userId: number },
    act: () => Promise<T>,
  ) => {
    const site = siteOf(endpoint);
    const known = knownServices.has(site);
    return inTurn({ person: known ? String(userId) : site, guest: !known }, act);
  };

  const tell = async (claimed: store.Claimed, result: WaitResult): Promise<void> => {
    const outcome = await send(claimed, keyOf(result), result);
    const { device, attempts } = claimed;
    if (outcome.told === 'later') {
      const pause = pauses[attempts - 1];
      if (pause !== undefined) {
        await store.putBack(db, claimed, Math.min(Math.max(pause, outcome.seconds), 3600));
        return;
      }
      log.warn({ device, why: outcome.why }, 'a push was given up');
    } else if (outcome.told === 'never') {
      log.warn({ device }, 'a push service refused a message');
    } else if (outcome.told === 'gone') {
      await store.removeDead(db, device, claimed.endpoint);
    }
    await store.forget(db, claimed);
  };

  /** Tells whoever watches these from afar, if they have ended. */
  const tellAll = async (waits: readonly WaitRef[]): Promise<void> => {
    const claimed = await store.claim(db, waits);
    if (claimed.length === 0) return;
    const asked = claimed.map(({ kind, ref, userId }) => ({ kind, id: ref, userId }));
    const results = await read(asked);
    await Promise.all(
      claimed.map((each, at) =>
        limit(each, async () => {
          const result = results[at]!;
          if (result.state === 'gone') await store.forget(db, each);
          else if (result.state === 'pending') await store.release(db, each);
          else await tell(each, result);
        }),
      ),
    );
  };

  const tellUnasked = async (news: readonly { userId: number; id: number }[]): Promise<void> => {
    const devices = await store.devicesOf(db, [...new Set(news.map(({ userId }) => userId))]);
    const told = news.filter(({ userId }) => devices.some((each) => each.userId === userId));
    const results = await read(
      told.map(({ userId, id }) => ({ kind: 'news' as const, id: String(id), userId })),
    );
    await Promise.all(
      told.flatMap(({ userId }, at) => {
        const result = results[at]!;
        if (result.state === 'gone') return [];
        return devices
          .filter((each) => each.userId === userId)
          .map((each) =>
            limit(each, async () => {
              const outcome = await send(each, keyOf(result), result);
              if (outcome.told === 'gone') await store.removeDead(db, each.device, each.endpoint);
            }),
          );
      }),
    );
  };

  return { tellAll, tellUnasked };
};
