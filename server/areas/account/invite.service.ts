import { randomBytes } from 'node:crypto';
import type { Out } from '#contract/calls.ts';
import { invitation } from '#contract/goods.ts';
import { limits } from '#contract/limits.ts';
import { orderTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { bookAdjustment } from '../payment/adjustment.service.ts';
import * as store from './account.store.ts';

/** Whether a link is somebody's and can still be used. */
export const isInvite = async (db: Executor, code: string): Promise<boolean> =>
  (await store.inviterOf(db, code)) !== null;

/** So many come from one place in a day that bring tokens at once. */
const mostAtOnce = { network: invitation.ofNetwork, provider: invitation.ofProvider };

/** How many wait that are looked at in a minute. */
const lookedAt = 100;

export const inviteInfo = async (db: Executor, userId: number): Promise<Out<'inviteInfo'>> => {
  const link = await store.newestInvite(db, userId);
  const { count, tokens, waiting } = await store.invitedTotals(db, userId);
  return {
    code: link?.code ?? '',
    expires_at: link?.expiresAt.toISOString() ?? null,
    tokens: invitation.tokens,
    days: invitation.days,
    total: count,
    total_tokens: tokens,
    waiting,
  };
};

/**
 * A new link; those before it go on until their time is over.
 * @param place where its owner is
 */
export const newInvite = (
  db: Executor,
  userId: number,
  place: store.Place,
): Promise<Out<'newInvite'>> =>
  inTransaction(db, async (tx) => {
    const code = randomBytes(9).toString('base64url');
    await store.insertInvite(tx, { code, userId, ...place, days: invitation.days });
    return inviteInfo(tx, userId);
  });

/** Gives the inviter the tokens, unless the day's number is full; true: it did. Locked by then. */
const reward = async (tx: Transaction, inviterId: number): Promise<boolean> => {
  if ((await store.creditedLately(tx, inviterId)) >= invitation.aDay) return false;
  await bookAdjustment(tx, {
    userId: inviterId,
    type: orderTypes.invite,
    title: '邀请好友注册',
    tokens: invitation.tokens,
    remarks: '邀请注册赠送',
    managerId: null,
  });
  return true;
};

/**
 * Somebody registered by a link: its owner gets the tokens, at once or, where it may be the owner's
 * own hand, once the one who came was active on some days. A link that is over is none.
 * @param place where they registered
 */
export const takeInvite = async (
  tx: Transaction,
  userId: number,
  { code, ...place }: { code: string | undefined } & store.Place,
): Promise<void> => {
  const inviter = code ? await store.inviterOf(tx, code) : null;
  if (code === undefined || inviter === null || inviter.userId === userId) return;
  const { userId: inviterId, places } = inviter;
  // In this order everywhere; what is counted is committed by then.
  await store.lockInviting(tx, String(inviterId));
  let waits = false;
  for (const part of ['network', 'provider'] as const) {
    const from = place[part];
    if (from === '') continue;
    await store.lockInviting(tx, from);
    waits ||=
      places.some((own) => own[part] === from) ||
      (await store.cameFrom(tx, part, from)) >= mostAtOnce[part];
  }
  const credited = !waits && (await reward(tx, inviterId));
  await store.insertInvited(tx, {
    userId,
    inviterId,
    code,
    ...place,
    tokens: credited ? invitation.tokens : 0,
    creditedAt: credited ? new Date() : null,
    lookAt: waits ? new Date() : null,
  });
};

/** By the clock: those that were waited for and were active on enough days bring their tokens. */
export const rewardActive = async (tx: Transaction): Promise<void> => {
  const due = (await store.takeWaiting(tx, lookedAt)).filter(
    ({ waits, days }) => waits && days >= invitation.activeDays,
  );
  // Two that lock several inviters do so in one order.
  for (const { userId, inviterId } of due.sort((a, b) => a.inviterId - b.inviterId)) {
    await store.lockInviting(tx, String(inviterId));
    if (await reward(tx, inviterId)) await store.creditInvited(tx, userId, invitation.tokens);
  }
};

export const inviteList = async (
  db: Executor,
  userId: number,
  page: number,
): Promise<Out<'inviteList'>> => {
  const size = limits.pageSize;
  const { count } = await store.invitedTotals(db, userId);
  const list = await store.invitedPage(db, userId, windowOf(page, size));
  return {
    list: list.map((row) => ({
      user_name: row.userName,
      tokens: row.tokens,
      waiting: row.waits,
      active_days: row.days,
      created_at: row.createdAt.toISOString(),
    })),
    ...pageOf(count, page, size),
  };
};
