import type { FastifyBaseLogger } from 'fastify';
import type { Parsed } from '#contract/calls.ts';
import { waitKind, type WaitKind, type WaitRef, type WaitResult } from '#contract/wait.ts';
import type { Database, Executor } from '../db/database.ts';
import { createFairQueue } from '../fair-queue.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { Instance } from '../db/instance.ts';
import { createGuard } from '../net/guarded-fetch.ts';
import { Refusal, type Identity } from '../http/handlers.ts';
import type { Settings } from '../settings.ts';
import { areKeys, createPush, pushKeys } from './push.ts';
import { waitEndedChannel } from './wait-ended.ts';
import { plainLine } from './plain-line.ts';
import * as store from './wait.store.ts';

/** What a notification says of something that is waited for. */
export type WaitNews = Pick<WaitResult, 'state' | 'title' | 'body' | 'url'>;

/**
 * How things of one kind stand, each asked about by somebody: news in the order of the questions,
 * null for what there is not, and for what is not that person's.
 */
export type WaitSource = (
  db: Executor,
  asked: readonly { id: string; userId: number }[],
) => Promise<(WaitNews | null)[]>;

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
const pushesAtOnce = 20;
/** Seconds until the next try, after each one that failed; then it is given up. */
const pauses = [5, 30, 120, 600, 1800];
/** Letters of a notification: phones show fewer, and push services take 4 KB in all. */
const titleMost = 80;
const bodyMost = 240;
/** How long pushes that are on their way may take at the end of the process, ms. */
const drainMs = 3_000;

/** The push services of the browsers; whoever names another may name one that never answers. */
const knownServices = new Set(['googleapis.com', 'mozilla.com', 'apple.com', 'windows.com']);
const siteOf = (endpoint: string): string =>
  new URL(endpoint).hostname.split('.').slice(-2).join('.');

const gone: WaitNews = { state: 'gone', title: '', body: '', url: '/' };
const keyOf = ({ kind, id }: WaitRef): string => `${kind}:${id}`;

export type Waits = Awaited<ReturnType<typeof createWaits>>;

/**
 * What people wait for while their page is out of sight: how it stands, and the one push that each
 * browser gets when it has ended.
 */
export const createWaits = async ({ db, instance, settings, log, sources }: WaitsDeps) => {
  const keys = await pushKeys(db);
  // A push service is reached by https alone.
  const guard = createGuard({ allowed: settings.fetchAllowed, ports: { 'https:': '443' } });
  const send = createPush(keys, settings.publicUrl, guard.agent);
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

  const read = async (
    executor: Executor,
    asked: readonly (WaitRef & { userId: number })[],
  ): Promise<WaitResult[]> => {
    const results: WaitResult[] = asked.map(({ kind, id }) => ({ kind, id, ...gone }));
    for (const kind of waitKind.options) {
      const places = [...asked.keys()].filter((at) => asked[at]!.kind === kind);
      if (places.length === 0) continue;
      const news = await sources[kind](
        executor,
        places.map((at) => asked[at]!),
      );
      for (const [nth, at] of places.entries()) {
        const found = news[nth];
        if (!found) continue;
        const title = plainLine(found.title, titleMost) || '鹊桥';
        Object.assign(results[at]!, found, { title, body: plainLine(found.body, bodyMost) });
      }
    }
    return results;
  };

  // ---- telling ---------------------------------------------------------------------------------

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
    const results = await read(db, asked);
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
      db,
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

  const sweep = async (): Promise<void> => {
    const watched = await store.unclaimed(db, sweepMost);
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
