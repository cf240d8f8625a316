import { limits } from '#contract/limits.ts';
import type { Transaction } from '#server/db/database.ts';
import { tellUnasked } from '#server/waits/wait-ended.store.ts';
import type { WaitNews, WaitSource } from '#server/waits/wait-source.ts';
import { lockPurse, turnVip } from './ledger.service.ts';
import { vipEndMoved } from './vip-month.ts';
import * as store from './vip.store.ts';

/** The membership of a person whose tokens and membership wait for this transaction. */
const lockMember = async (tx: Transaction, userId: number): Promise<store.MemberRow> => {
  await lockPurse(tx, userId);
  const member = await store.lockMember(tx, userId);
  if (!member) throw new Error(`there is no user ${userId}`);
  return member;
};

/** Adds months to a running membership, or begins one with them now. */
export const prolongVip = async (
  tx: Transaction,
  userId: number,
  months: number,
): Promise<void> => {
  const { activatedAt, expiredAt, now } = await lockMember(tx, userId);
  const runs = activatedAt !== null && expiredAt !== null && expiredAt > now;
  const from = runs ? activatedAt : now;
  await store.saveVip(tx, userId, {
    activatedAt: from,
    expiredAt: vipEndMoved(from, runs ? expiredAt : now, months),
  });
  await turnVip(tx, userId);
};

/**
 * Takes months away; one that ends by that ends now, with what its month's tokens left. Says whether
 * it ended, and how many of the months were over: nothing of them can be taken.
 */
export const shortenVip = async (
  tx: Transaction,
  userId: number,
  months: number,
): Promise<{ ended: boolean; over: number }> => {
  const { activatedAt, expiredAt, now } = await lockMember(tx, userId);
  if (months === 0 || activatedAt === null || expiredAt === null || expiredAt <= now)
    return { ended: false, over: months };
  let left = months;
  const endWithout = (count: number) => vipEndMoved(activatedAt, expiredAt, -count);
  while (left > 1 && endWithout(left - 1) <= now) left -= 1;
  const end = endWithout(months);
  await store.saveVip(tx, userId, { activatedAt, expiredAt: end > now ? end : now });
  await turnVip(tx, userId);
  return { ended: end <= now, over: months - left };
};

/** What an administrator sets: until when; null ends it. */
export const setVipEnd = async (
  tx: Transaction,
  userId: number,
  expiredAt: Date | null,
): Promise<void> => {
  const member = await lockMember(tx, userId);
  // Who never was a member has no end of it.
  if (expiredAt === null && member.expiredAt === null) return;
  const runs = member.expiredAt !== null && member.expiredAt > member.now;
  await store.saveVip(tx, userId, {
    activatedAt: runs ? member.activatedAt : member.now,
    expiredAt: expiredAt ?? member.now,
  });
  await turnVip(tx, userId);
};

/** Sets the level of the source-code subscription: 0 none, 1 basic, 2 premium. */
export const setSubscribe = store.saveSubscribe;

export const membershipOf = store.readMember;

/** The end of a membership that comes was seen on screen: of this one no more is said. */
export const noteVipEndSeen = store.noteEndSeen;

const mostAtOnce = 500;

/** By the clock: tells people by push, once, that their membership ends within a week. */
export const tellVipEnds = async (tx: Transaction): Promise<void> => {
  const ending = await store.takeEnding(tx, limits.vipEndTold, mostAtOnce);
  await tellUnasked(
    tx,
    'membership',
    ending.map(({ userId, end }) => ({ userId, id: String(end.getTime()) })),
  );
};

const chinaDate = (at: Date): string => {
  const china = new Date(at.getTime() + 8 * 3_600_000);
  return `${china.getUTCMonth() + 1} 月 ${china.getUTCDate()} 日`;
};

/** What a push says of a membership that ends; of one that was prolonged meanwhile nothing. */
export const vipEndSource: WaitSource = async (db, asked) =>
  Promise.all(
    asked.map(async ({ id, userId }): Promise<WaitNews | null> => {
      const member = await store.readMember(db, userId);
      const end = member?.expiredAt;
      if (!end || end <= member.now || String(end.getTime()) !== id) return null;
      return {
        state: 'done',
        title: '会员快到期了',
        body: `您的会员 ${chinaDate(end)}到期，续费之后不会中断`,
        url: '/account?tab=vip',
      };
    }),
  );
