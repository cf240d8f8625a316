import type { FastifyBaseLogger } from 'fastify';
import { type RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import { type ApiCaller, type KeyGate, nothingUsed } from '#server/http/open-handlers.ts';
import { tooMany } from '#server/http/rate-limit.ts';
import { SharedLimiter } from '#server/http/shared-limit.ts';
import { allowCall } from '../compliance/allow.ts';
import { recordCall } from '../compliance/records.service.ts';
import { createCallLog } from './call-log.ts';
import * as store from './developer.store.ts';
import { comesFrom, hashOf, mayUseApi, readKey } from './key.service.ts';
import { createKeyWatch } from './key-watch.ts';

/** How long it is remembered that somebody has paid, ms. */
const paidFor = 60_000;
/** A key's use is noted this often at most, ms. */
const noteEvery = 60_000;
const most = 10_000;

const seconds = (ms: number): string => `${Math.max(0, Math.ceil(ms / 1000))}s`;

export interface Gate extends KeyGate {
  /** Counts tokens of a key's minute; gives headers that tell how many are left. @throws Refusal too_many and counts nothing */
  takeTokens: (caller: ApiCaller, tokens: number) => Promise<Record<string, string>>;
  /** Counts what turned out to be more. */
  addTokens: (caller: ApiCaller, tokens: number) => void;
  /** The caller that asks by a key without being here. @throws Refusal unauthorized … */
  callerOf: (keyId: number) => Promise<ApiCaller>;
  close: () => Promise<void>;
}

/** @throws Refusal where a key may ask nothing now */
const requireOpen = (holder: store.Holder | null): store.Holder => {
  if (!holder)
    throw new Refusal('unauthorized', 'API-KEY 不对，或已被删除：请在 /api 页查看或新建');
  if (holder.expired) throw new Refusal('unauthorized', '这个 API-KEY 已经过期，请新建一个');
  if (holder.paused)
    throw new ApiRefusal('forbidden', '这个 API-KEY 已停用，可以在 /api 页重新打开', {
      code: 'key_paused',
    });
  if (holder.disabled) throw new Refusal('account_disabled');
  return holder;
};

/** The caller as which a key's holder asks. */
const callerAs = (holder: store.Holder, instance: number): ApiCaller => ({
  keyId: holder.key_id,
  user: {
    id: holder.user_id,
    userName: holder.user_name,
    guest: holder.guest,
    person: String(holder.user_id),
    manager: holder.manager,
    // A key opens nothing that owners alone may do.
    owner: false,
    sessionPrivate: holder.session_private,
    sessionBlacklist: holder.session_blacklist,
    jti: '',
  },
  models: holder.models,
  monthLimit: holder.month_limit,
  metered: holder.month_limit !== null || holder.at_once !== null || holder.bounds.length > 0,
  countedBound: holder.bounds.includes('tokens'),
  callTokens: holder.call_tokens,
  groupFactor: holder.group_factor,
  instance,
  logBodies: holder.log_bodies,
  used: { ...nothingUsed },
});

const state = async (limiter: RateLimiterMemory, keyId: number): Promise<RateLimiterRes> =>
  (await limiter.get(String(keyId))) ?? new RateLimiterRes(limiter.points, 0, 0, true);

const headersOf = (name: string, limiter: RateLimiterMemory, now: RateLimiterRes) => ({
  [`x-ratelimit-limit-${name}`]: String(limiter.points),
  [`x-ratelimit-remaining-${name}`]: String(
    Math.max(0, limiter.points - (now.consumedPoints ?? 0)),
  ),
  [`x-ratelimit-reset-${name}`]: seconds(now.msBeforeNext),
});

/** Lets in whoever has a key, keeps count of what each does, and ends what runs under a lost one. */
export const createGate = (deps: {
  db: Database;
  instance: Instance;
  limits: { requests: number; tokens: number };
  log: Pick<FastifyBaseLogger, 'warn'>;
}): Gate => {
  const { db, instance, limits, log } = deps;
  const requests = new SharedLimiter({
    name: 'api requests',
    points: limits.requests,
    duration: 60,
  });
  const tokens = new SharedLimiter({ name: 'api tokens', points: limits.tokens, duration: 60 });
  const paid = new Map<number, number>();
  const noted = new Map<number, number>();

  const requirePaid = async (userId: number): Promise<void> => {
    const now = Date.now();
    if ((paid.get(userId) ?? 0) > now) return;
    if (!(await mayUseApi(db, userId))) throw new Refusal('payment_required');
    if (paid.size > most) paid.clear();
    paid.set(userId, now + paidFor);
  };

  const note = (keyId: number): void => {
    const now = Date.now();
    if ((noted.get(keyId) ?? 0) > now - noteEvery) return;
    if (noted.size > most) noted.clear();
    noted.set(keyId, now);
    store
      .noteUse(db, keyId)
      .catch((error: unknown) => log.warn({ err: error }, 'the use of a key was not noted'));
  };

  const callerFor = async (found: store.Holder | null): Promise<ApiCaller> => {
    const holder = requireOpen(found);
    await requirePaid(holder.user_id);
    return callerAs(holder, instance.id);
  };

  const watch = createKeyWatch(deps);
  const calls = createCallLog(deps);

  return {
    async allow({ user }, call, from) {
      await allowCall(db, user, { call, input: {}, byKey: true, device: null });
      await recordCall(db, { userId: user.id, call, byKey: true, input: null, answer: null, from });
    },

    note: (call) => calls.note(call),

    async enter(given, ip) {
      const read = readKey(given);
      const holder =
        read && (await store.findHolder(db, { hash: hashOf(read.key), userId: read.userId }));
      const caller = await callerFor(holder);
      if (!comesFrom(ip, holder?.addresses ?? []))
        throw new Refusal('forbidden', `这个 API-KEY 不能从 ${ip} 使用`);
      note(caller.keyId);
      return caller;
    },

    callerOf: async (keyId) => callerFor(await store.holderOfKey(db, keyId)),

    async count({ keyId }) {
      try {
        const now = await requests.consume(String(keyId));
        return {
          ...headersOf('requests', requests, now),
          ...headersOf('tokens', tokens, await state(tokens, keyId)),
        };
      } catch (refused) {
        if (refused instanceof RateLimiterRes) throw tooMany(refused.msBeforeNext);
        throw refused;
      }
    },

    async takeTokens({ keyId }, amount) {
      const key = String(keyId);
      // Counted before it is judged: of calls at once none sees the minute as it was before another.
      const now = await tokens.penalty(key, amount);
      // What is larger than a whole minute's share may still be asked in a minute of its own.
      if (now.consumedPoints > amount && now.consumedPoints > limits.tokens) {
        await tokens.reward(key, amount);
        throw tooMany(now.msBeforeNext);
      }
      return headersOf('tokens', tokens, now);
    },

    addTokens({ keyId }, amount) {
      if (amount > 0) void tokens.penalty(String(keyId), amount);
    },

    watch: watch.watch,

    close() {
      watch.close();
      return calls.close();
    },
  };
};
