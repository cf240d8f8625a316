import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { lockOwner } from '#server/db/person.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { requireLogin } from '../auth/proofs.ts';
import type { KeyBox } from '../model/channel-key.ts';
import * as store from './developer.store.ts';
import { hashOf, maskOf, newKey, readExpiry, requireAddresses, sealedFor } from './key.service.ts';
import { keptBound, requireBounds } from './key-bounds.ts';
import { replaceBounds } from './key-bounds.store.ts';

const ownKey = async (tx: Executor, userId: number, id: number) => {
  const row = (await store.keysOf(tx, userId)).find((each) => each.id === id);
  if (!row) throw new Refusal('not_found', '没有这个 API-KEY');
  return row;
};

/** Changes what is said of a key and what it may do. @throws Refusal not_found, bad_input */
export const changeKey = (
  db: Executor,
  input: Parsed<'updateKey'>,
  userId: number,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { id, limits: bounds, expires_at: expires } = input;
    if (input.addresses) requireAddresses(input.addresses);
    if (bounds) requireBounds(bounds);
    await lockOwner(tx, userId);
    await ownKey(tx, userId, id);
    await store.updateKey(tx, id, {
      name: input.name?.trim(),
      usedFor: input.used_for?.trim(),
      monthLimit: input.month_limit,
      atOnce: input.at_once,
      callTokens: input.call_tokens,
      logBodies: input.log_bodies,
      models: input.models && [...new Set(input.models)],
      addresses: input.addresses && [...new Set(input.addresses)],
      expiresAt: expires === undefined ? undefined : readExpiry(expires),
    });
    if (bounds) await replaceBounds(tx, id, bounds.map(keptBound));
  });

/**
 * Gives a key another secret; the old one works on for a while, and nothing ends it before but a
 * rotation that ends all of them. @throws Refusal not_found, bad_input, unauthorized
 */
export const rotateKey = (db: Executor, box: KeyBox, input: Parsed<'rotateKey'>, user: Identity) =>
  inTransaction(db, async (tx) => {
    const userId = user.id;
    await requireLogin(tx, user);
    const row = await ownKey(tx, userId, input.id);
    const key = newKey();
    const hash = hashOf(key);
    const once = await store.shownOnce(tx, userId);
    const hours = input.grace_hours;
    if (hours > 0 && row.oldUntil && row.oldUntil > new Date())
      throw new Refusal(
        'bad_input',
        'grace_hours：上次换下来的 KEY 还在使用期内，再换一次它就提前失效了。请等它到期，或选择立刻作废（grace_hours 为 0，之前的两个都不能再用）',
      );
    await store.updateKey(tx, row.id, {
      hash,
      sealed: once ? null : box.seal(key, sealedFor(hash)),
      mask: maskOf(key),
      oldHash: hours > 0 ? row.hash : null,
      oldUntil: hours > 0 ? new Date(Date.now() + hours * 3_600_000) : null,
    });
    // Whoever runs under an old one ends with it.
    if (hours === 0) await store.tellGone(tx, row.id);
    return {
      id: row.id,
      api_key: key,
      full_key: `${userId}-${key}`,
      created_at: row.createdAt.toISOString(),
    };
  });

/** Switches a key off, and ends what runs under it; or on again. @throws Refusal not_found */
export const pauseKey = (
  db: Executor,
  { id, on }: Parsed<'pauseKey'>,
  userId: number,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await ownKey(tx, userId, id);
    await store.updateKey(tx, id, { paused: on });
    if (on) await store.tellGone(tx, id);
  });
