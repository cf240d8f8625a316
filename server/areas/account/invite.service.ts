import { randomBytes } from 'node:crypto';
import type { Out } from '../../../contract/calls.ts';
import { invitation } from '../../../contract/goods.ts';
import { limits } from '../../../contract/limits.ts';
import { orderTypes } from '../../../contract/payment.ts';
import type { Executor, Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { bookAdjustment } from '../payment/adjustment.service.ts';
import * as store from './account.store.ts';

/** Registrations a day that bring tokens: more than friends there are, fewer than make a business. */
const creditedADay = 20;

export const inviteInfo = async (db: Executor, userId: number): Promise<Out<'inviteInfo'>> => {
  const link = await store.newestInvite(db, userId);
  const { count, tokens } = await store.invitedTotals(db, userId);
  return {
    code: link?.code ?? '',
    expires_at: link?.expiresAt.toISOString() ?? null,
    tokens: invitation.tokens,
    days: invitation.days,
    total: count,
    total_tokens: tokens,
  };
};

/** A new link; those before it go on until their time is over. */
export const newInvite = (db: Executor, userId: number): Promise<Out<'newInvite'>> =>
  inTransaction(db, async (tx) => {
    const code = randomBytes(9).toString('base64url');
    await store.insertInvite(tx, { code, userId, days: invitation.days });
    return inviteInfo(tx, userId);
  });

/** Somebody registered by a link: its owner gets the tokens. A link that is over is none. */
export const takeInvite = async (
  tx: Transaction,
  userId: number,
  code: string | undefined,
): Promise<void> => {
  const inviterId = code ? await store.inviterOf(tx, code) : null;
  if (code === undefined || inviterId === null || inviterId === userId) return;
  const credited = (await store.cameWithin(tx, inviterId, 24)) < creditedADay;
  const tokens = credited ? invitation.tokens : 0;
  await store.insertInvited(tx, { userId, inviterId, code, tokens });
  if (tokens > 0)
    await bookAdjustment(tx, {
      userId: inviterId,
      type: orderTypes.invite,
      title: '邀请好友注册',
      tokens,
      remarks: '邀请注册赠送',
      managerId: null,
    });
};

export const inviteList = async (
  db: Executor,
  userId: number,
  page: number,
): Promise<Out<'inviteList'>> => {
  const size = limits.pageSize;
  const { count } = await store.invitedTotals(db, userId);
  const list = await store.invitedPage(db, userId, { offset: (page - 1) * size, limit: size });
  return {
    list: list.map((row) => ({
      user_name: row.userName,
      tokens: row.tokens,
      created_at: row.createdAt.toISOString(),
    })),
    page,
    page_count: Math.ceil(count / size),
    page_size: size,
    total: count,
  };
};
