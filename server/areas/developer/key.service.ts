import { createHash, randomInt } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { ApiKey, ApiUsage } from '#contract/developer.ts';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { lockOwner } from '#server/db/person.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { requireLogin } from '../auth/proofs.ts';
import type { KeyBox } from '../model/channel-key.ts';
import * as store from './developer.store.ts';
import { keptBound, requireBounds, shownBound, yuanOf } from './key-bounds.ts';
import { boundsOf, replaceBounds } from './key-bounds.store.ts';

export { deleteKeysOf } from './developer.store.ts';

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Letters of a key without the account's number: some 285 bits. */
const keyLength = 48;

export const newKey = (): string =>
  Array.from({ length: keyLength }, () => letters[randomInt(letters.length)]).join('');

/** A key as it is shown: its first and last ten letters. */
export const maskOf = (key: string): string => `${key.slice(0, 10)}••••••${key.slice(-10)}`;

export const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/** The account's number and the key of what stands in the header; null: it is none of ours. */
export const readKey = (given: string): { userId: number; key: string } | null => {
  const [, userId, key] = /^([1-9]\d{0,15})-([0-9A-Za-z]{48})$/.exec(given) ?? [];
  return userId !== undefined && key !== undefined ? { userId: Number(userId), key } : null;
};

const rangeOf = (text: string) => {
  const range = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  return ipaddr.isValidCIDR(range) ? ipaddr.parseCIDR(range) : null;
};

/** Whether an address is one of those that a key may be used from; none named: all are. */
export const comesFrom = (ip: string, allowed: readonly string[]): boolean => {
  if (allowed.length === 0) return true;
  if (!ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return allowed.some((text) => {
    const range = rangeOf(text);
    return range !== null && range[0].kind() === address.kind() && address.match(range);
  });
};

const noApi = '请先在账户页充值或开通会员，再用余额调用 API';

/**
 * Whether a person may use the public API: whoever ever paid for something and was not
 * paid back all of it, has or had a membership, was given tokens by a manager, or is one.
 */
export const mayUseApi = store.hasPaid;

export const readExpiry = (given: string | null | undefined): Date | null => {
  if (given === undefined || given === null || given === '') return null;
  const at = new Date(given);
  if (Number.isNaN(at.getTime())) throw new Refusal('bad_input', 'expires_at：应为一个时间');
  if (at.getTime() <= Date.now()) throw new Refusal('bad_input', 'expires_at：应在现在以后');
  if (at.getUTCFullYear() > 2200) throw new Refusal('bad_input', 'expires_at：太远了');
  return at;
};

/** @throws Refusal bad_input */
export const requireAddresses = (addresses: readonly string[]): void => {
  for (const address of addresses)
    if (rangeOf(address) === null)
      throw new Refusal('bad_input', `addresses：“${address}”不是 IP 地址或网段`);
};

/** What a key is sealed for: no other row opens it. */
export const sealedFor = (hash: Buffer): string => `api_key:${hash.toString('hex')}`;

/**
 * Makes a key, and keeps it encrypted for its owner unless they want it shown once.
 * @throws Refusal too_many_keys, bad_input, unauthorized
 */
export const createKey = (db: Executor, box: KeyBox, input: Parsed<'genKey'>, user: Identity) =>
  inTransaction(db, async (tx) => {
    const userId = user.id;
    requireAddresses(input.addresses);
    const bounds = input.limits ?? [];
    requireBounds(bounds);
    const expiresAt = readExpiry(input.expires_at);
    await requireLogin(tx, user);
    if ((await store.keysOf(tx, userId)).length >= limits.apiKeys)
      throw new Refusal('too_many_keys');
    const key = newKey();
    const hash = hashOf(key);
    const once = await store.shownOnce(tx, userId);
    const row = await store.insertKey(tx, {
      userId,
      hash,
      sealed: once ? null : box.seal(key, sealedFor(hash)),
      mask: maskOf(key),
      name: input.name.trim(),
      usedFor: input.used_for?.trim() ?? '',
      monthLimit: input.month_limit ?? null,
      atOnce: input.at_once ?? null,
      callTokens: input.call_tokens ?? null,
      logBodies: input.log_bodies ?? false,
      models: [...new Set(input.models)],
      addresses: [...new Set(input.addresses)],
      expiresAt,
    });
    await replaceBounds(tx, row.id, bounds.map(keptBound));
    return {
      id: row.id,
      api_key: key,
      full_key: `${userId}-${key}`,
      created_at: row.createdAt.toISOString(),
    };
  });

/**
 * A key that was made, for whoever did not hear the answer.
 * @throws Refusal conflict where it is not kept, or deleted meanwhile
 */
export const keyAgain = async (db: Executor, box: KeyBox, id: number, userId: number) => {
  const row = (await store.keysOf(db, userId)).find((each) => each.id === id);
  const key = row?.sealed && row.hash ? box.open(row.sealed, sealedFor(row.hash)) : null;
  if (!row || key === null)
    throw new Refusal('conflict', '这个 API-KEY 已经生成过，只显示一次；请删除它，再生成一个');
  return {
    id,
    api_key: key,
    full_key: `${userId}-${key}`,
    created_at: row.createdAt.toISOString(),
  };
};

/** Whether a person's keys are shown when they are made and never again. */
export const isShownOnce = store.shownOnce;

/** Chooses it. What is kept is forgotten then, and cannot be had back. */
export const showOnce = (db: Executor, userId: number, on: boolean): Promise<void> =>
  inTransaction(db, async (tx) => {
    await lockOwner(tx, userId);
    await store.setShownOnce(tx, userId, on);
  });

/** Deletes an own key, named by its number, as the list shows it, or whole. @throws Refusal not_found */
export const removeKey = (db: Executor, input: Parsed<'delKey'>, userId: number) =>
  inTransaction(db, async (tx) => {
    const given = (input.api_key ?? '').replace(new RegExp(`^${userId}-`), '');
    if (given === '' && input.id === undefined)
      throw new Refusal('bad_input', 'api_key：请选择要删除的 KEY');
    const keys = await store.keysOf(tx, userId);
    const whole = given.length === keyLength ? hashOf(given) : null;
    const found = keys.find((key) =>
      input.id === undefined
        ? key.mask === given || (whole !== null && key.hash?.equals(whole) === true)
        : key.id === input.id,
    );
    if (!found || !(await store.deleteKey(tx, userId, found.id)))
      throw new Refusal('not_found', '没有这个 API-KEY');
    return { deleted: true };
  });

const viewOf = (
  row: store.KeyRow & { monthUsed: number },
): Omit<ApiKey, 'api_key' | 'kept' | 'limits'> => ({
  id: row.id,
  mask: row.mask,
  name: row.name,
  used_for: row.usedFor,
  paused: row.paused,
  at_once: row.atOnce,
  call_tokens: row.callTokens,
  log_bodies: row.logBodies,
  old_until:
    row.oldUntil && row.oldUntil.getTime() > Date.now() ? row.oldUntil.toISOString() : null,
  month_limit: row.monthLimit,
  month_used: row.monthUsed,
  models: row.models,
  addresses: row.addresses,
  expires_at: row.expiresAt?.toISOString() ?? null,
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
});

/** A person's keys, whole where they are kept. */
export const listKeys = async (db: Executor, box: KeyBox, userId: number): Promise<ApiKey[]> => {
  const rows = await store.keysOf(db, userId);
  const bounds = await boundsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const whole = row.sealed && row.hash ? box.open(row.sealed, sealedFor(row.hash)) : null;
    const limits = (bounds.get(row.id) ?? []).map(({ room, ...bound }) => ({
      ...shownBound(bound),
      left: shownBound({ ...bound, most: room }).amount,
    }));
    return { ...viewOf(row), limits, api_key: whole ?? row.mask, kept: whole !== null };
  });
};

/** Why a person may not use the API, in words that say what to do; empty: they may. */
export const apiHint = async (db: Executor, userId: number): Promise<string> =>
  (await mayUseApi(db, userId)) ? '' : noApi;

const beijing = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' });

/** The usage of a day by key and model, or of a month by day, key and model. */
export const usageOf = async (
  db: Executor,
  box: KeyBox,
  input: Parsed<'apiUsage'>,
  userId: number,
): Promise<ApiUsage[]> => {
  const month = input.month ?? beijing.format(new Date()).slice(0, 7);
  const lastDay = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0));
  const range =
    input.day === undefined
      ? { from: `${month}-01`, to: lastDay.toISOString().slice(0, 10) }
      : { from: input.day, to: input.day };
  const rows = await store.usageBetween(db, userId, { ...range, keyId: input.key_id });
  const keys = new Map((await listKeys(db, box, userId)).map((key) => [key.id, key.api_key]));
  return rows.map(({ usage, mask }) => ({
    date: usage.day,
    time: usage.day,
    api_key: keys.get(usage.keyId) ?? mask,
    key_id: usage.keyId,
    model: usage.model,
    count: usage.count,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    tokens: usage.promptTokens + usage.completionTokens,
    raw_prompt_tokens: usage.promptTokens,
    raw_completion_tokens: usage.completionTokens,
    real_prompt_tokens: usage.deductPrompt,
    real_completion_tokens: usage.deductCompletion,
    deduct_tokens: usage.deductPrompt + usage.deductCompletion,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    yuan: yuanOf(usage.deductPrompt + usage.deductCompletion),
  }));
};
