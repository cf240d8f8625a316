import type { FastifyBaseLogger } from 'fastify';
import type { Parsed } from '#contract/calls.ts';
import { waitKind, type WaitKind, type WaitRef } from '#contract/wait.ts';
import type { Database, Executor } from '../db/database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { Instance } from '../db/instance.ts';
import { createGuard } from '../net/guarded-fetch.ts';
import { Refusal, type Identity } from '../http/handlers.ts';
import type { Settings } from '../settings.ts';
import { areKeys, createPush, pushKeys } from './push.ts';
import { createPushTeller, keyOf } from './push-teller.ts';
import { waitEndedChannel } from './wait-ended.store.ts';
import { readWaits, type WaitSource } from './wait-source.ts';
import * as store from './wait.store.ts';

export interface WaitsDeps {
  db: Database;
  instance: Instance;
  settings: Pick<Settings, 'fetchAllowed' | 'publicUrl'>;
  log: FastifyBaseLogger;
  sources: Record<WaitKind, WaitSource>;
}

/** Ends that come within this are looked at together, ms. */
const gatherMs = 50;
/** How often what was missed is looked for: notices of a broken connection, dead processes, ms. */
const sweepMs = 5_000;
const sweepMost = 500;
/** How long pushes that are on their way may take at the end of the process, ms. */
const drainMs = 3_000;

export type Waits = Awaited<ReturnType<typeof createWaits>>;

/**
 * What people wait for while their page is out of sight: how it stands, and the one push that each
 * browser gets when it has ended.
 */
export const createWaits = async ({ db, instance, settings, log, sources }: WaitsDeps) => {
  const keys = await pushKeys(db);
  // A push service is reached by https alone.
  const guard = createGuard({ allowed: settings.fetchAllowed, ports: { 'https:': '443' } });
  const read = (executor: Executor, asked: Parameters<typeof readWaits>[2]) =>
    readWaits(sources, executor, asked);
  const { tellAll, tellUnasked } = createPushTeller({
    db,
    log,
    send: createPush(keys, settings.publicUrl, guard.agent),
    read: (asked) => read(db, asked),
  });

  const ended = new Map<string, WaitRef>();
  const busy = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const run = (act: Promise<void>): void => {
    const done = act
      .catch((error: unknown) => log.warn({ err: error }, 'pushes could not be sent for now'))
      .finally(() => busy.delete(done));
    busy.add(done);
  };

  const noteEnded = (waits: readonly WaitRef[]): void => {
    for (const wait of waits) ended.set(keyOf(wait), wait);
    timer ??= setTimeout(() => {
      timer = undefined;
      const all = [...ended.values()];
      ended.clear();
      if (all.length > 0) run(tellAll(all));
    }, gatherMs);
  };

  /** Where the last look ended: each goes on behind it, so that many of one person hide nobody's. */
  let swept: store.Watched | null = null;
  const sweep = async (): Promise<void> => {
    const watched = await store.unclaimed(db, swept, sweepMost);
    swept = watched.length < sweepMost ? null : (watched.at(-1) ?? null);
    if (watched.length === 0) return;
    noteEnded((await read(db, watched)).filter(({ state }) => state !== 'pending'));
  };

  await instance.listen(waitEndedChannel, (payload) => {
    const cut = payload.indexOf(':');
    const kind = waitKind.options.find((each) => each === payload.slice(0, cut));
    if (kind) noteEnded([{ kind, id: payload.slice(cut + 1) }]);
  });
  const sweeper = setInterval(() => run(sweep()), sweepMs);

  // ---- calls -----------------------------------------------------------------------------------

  return {
    publicKey: keys.publicKey,

    status: (executor: Executor, userId: number, waits: readonly WaitRef[]) =>
      read(
        executor,
        waits.map((wait) => ({ ...wait, userId })),
      ),

    /** @throws Refusal address_unreachable, bad_input */
    subscribe: async (
      executor: Executor,
      user: Pick<Identity, 'id' | 'jti'>,
      { device, endpoint, keys: { p256dh, auth } }: Parsed<'pushSubscribe'>,
    ): Promise<void> => {
      try {
        guard.requireAllowed(new URL(endpoint));
      } catch {
        throw new Refusal('address_unreachable', '这个推送地址无法公开访问');
      }
      if (!areKeys({ p256dh, auth })) throw new Refusal('bad_input', 'keys 不是推送的密钥');
      await inTransaction(executor, (tx) =>
        store.saveDevice(tx, { device, userId: user.id, jti: user.jti, endpoint, p256dh, auth }),
      );
    },

    unsubscribe: store.removeDevice,

    /** @throws Refusal not_found: the browser has to subscribe again */
    watch: async (
      executor: Executor,
      userId: number,
      { device, waits }: Parsed<'watchWaits'>,
    ): Promise<void> => {
      const results = await read(
        executor,
        waits.map((wait) => ({ ...wait, userId })),
      );
      const there = results.filter(({ state }) => state !== 'gone');
      await inTransaction(executor, async (tx) => {
        if (!(await store.hasDevice(tx, userId, device)))
          throw new Refusal('not_found', '这个浏览器没有登记推送');
        await store.watch(tx, device, there);
      });
    },

    /** Tells what has ended before it was watched. */
    tellEndedOf: async (userId: number, waits: readonly WaitRef[]): Promise<void> => {
      const results = await read(
        db,
        waits.map((wait) => ({ ...wait, userId })),
      );
      noteEnded(results.filter(({ state }) => state !== 'pending'));
    },

    /** Tells all browsers of people at once of what they did not wait for. */
    tellNews: (news: readonly { userId: number; id: number }[]): void => {
      if (news.length > 0) run(tellUnasked(news));
    },

    removeOld: store.removeOld,

    close: async (): Promise<void> => {
      clearInterval(sweeper);
      clearTimeout(timer);
      await Promise.race([
        Promise.all(busy),
        new Promise((resolve) => setTimeout(resolve, drainMs).unref()),
      ]);
      await guard.agent.destroy();
    },
  };
};
