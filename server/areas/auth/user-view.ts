import type { User } from '#contract/auth.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { together } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { AuthDeps } from './auth-deps.ts';
import { findUser } from './auth.store.ts';

/** The account's own view of itself. @throws Refusal not_found */
export const userView = async (
  deps: Pick<AuthDeps, 'balances' | 'countThisMonth' | 'unreadNews'>,
  db: Executor,
  userId: number,
): Promise<User> => {
  const free = limits.freeSessionsAMonth;
  const [row, tokensLeft, made, unread] = await together([
    findUser(db, userId),
    deps.balances(db, userId),
    deps.countThisMonth(db, userId, free),
    deps.unreadNews(db, userId),
  ]);
  if (!row) throw new Refusal('not_found');
  const vipLeftMs = (row.vipExpiredAt?.getTime() ?? 0) - Date.now();
  const vip = vipLeftMs > 0;
  const endSeen = row.vipExpiredAt?.getTime() === row.vipEndSeen?.getTime();
  const ending = vip && vipLeftMs <= limits.vipEndTold && !endSeen;
  return {
    id: row.id,
    account: row.account ?? '',
    user_name: row.userName,
    nickname: row.userName,
    email: row.email,
    avatar: row.avatar,
    guest: row.guest,
    admin: row.manager,
    owner: row.owner,
    vip: vip ? 1 : 0,
    vip_expired_at: row.vipExpiredAt?.toISOString() ?? null,
    vip_ending: ending ? 1 : 0,
    setting: JSON.stringify(row.setting),
    session_private: row.sessionPrivate ? 1 : 0,
    session_blacklist: row.sessionBlacklist ? 1 : 0,
    chatgpt_balance: tokensLeft.balance,
    vip_balance: tokensLeft.vip,
    balance_low: tokensLeft.low ? 1 : 0,
    news_unread: unread,
    subscribe: row.subscribe,
    sessions_left: vip ? null : free - made,
  };
};
