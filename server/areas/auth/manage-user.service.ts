import { randomBytes } from 'node:crypto';
import type { Out, Parsed } from '#contract/calls.ts';
import type { AdminUser } from '#contract/manage-user.ts';
import type { Executor } from '#server/db/database.ts';
import { readTime } from '#server/http/date-range.ts';
import { type ActNote, type Identity, Refusal } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { nameFault, normalName } from './names.ts';
import { hashPassword, passwordFault } from './password.ts';
import { dropLatelyBound } from './lately-bound.ts';
import * as store from './manage-user.store.ts';
import { requireGroup } from './people-group.service.ts';
import type { SecondFactor } from './second-factor.service.ts';
import { dropPasskeysOf, endLogins } from './ways.store.ts';

type Note = (act: ActNote) => void;

export interface ManageUserDeps {
  secondFactor: SecondFactor;
  /** Ends the keys for programs of a person; gives how many. */
  deleteKeysOf: (db: Executor, userId: number) => Promise<number>;
  /** Keeps changes of a person's tokens and membership waiting until the transaction ends. */
  lockPurse: (db: Executor, userId: number) => Promise<void>;
  /** Adds to a balance or takes from it, as an order of the system; null where there is not enough. */
  adjust: (
    db: Executor,
    change: { userId: number; tokens: number; remarks: string; managerId: number },
  ) => Promise<number | null>;
  /** Until when a membership runs; null ends it. */
  setVipEnd: (db: Executor, userId: number, until: Date | null) => Promise<void>;
  /** @throws Refusal words_blocked */
  refuseBlocked: (db: Executor, text: string) => Promise<void>;
  /** How many sessions others may read: they are private while their owner is closed. */
  countOpen: (db: Executor, userId: number) => Promise<number>;
  /** Makes all sessions private for good; gives how many were not. */
  hideSessions: (db: Executor, userId: number) => Promise<number>;
  lastActs: (db: Executor) => Promise<Map<number, Date | null>>;
  ledgerPage: (
    db: Executor,
    asked: { userId: number } & Omit<Parsed<'adminUserLedger'>, 'user_id'>,
    size: number,
  ) => Promise<{
    list: {
      id: number;
      pot: string;
      kind: string;
      amount: number;
      reference: string;
      remark: string;
      createdAt: Date;
    }[];
    total: number;
  }>;
}

const ledgerSize = 20;

const viewOf = (row: store.ManagedUser): AdminUser => ({
  user_id: row.id,
  account: row.account ?? '',
  user_name: row.userName,
  email: row.email,
  avatar: row.avatar,
  guest: row.guest ? 1 : 0,
  session_blacklist: row.sessionBlacklist ? 1 : 0,
  session_private: row.sessionPrivate ? 1 : 0,
  disabled: row.disabled ? 1 : 0,
  chatgpt_balance: row.balance,
  vip: row.vipExpiredAt !== null && row.vipExpiredAt > new Date() ? 1 : 0,
  vip_expired_at: row.vipExpiredAt?.toISOString() ?? null,
  vip_balance: row.vipBalance,
  subscribe: row.subscribe,
  rank: row.owner ? 'owner' : row.manager ? 'manager' : '',
  people_group: row.peopleGroup,
  created_at: row.createdAt.toISOString(),
});

/** The person's row. A manager has no power over other managers; an owner has, but not over the last owner. */
const governed = async (db: Executor, userId: number, by: Identity): Promise<store.LockedUser> => {
  const row = await store.lockUser(db, userId);
  if (!row) throw new Refusal('not_found', '没有这个用户');
  if (row.manager && !by.owner && row.id !== by.id)
    throw new Refusal('manage_unsuitable', '只有所有者可以更改别的管理员');
  return row;
};

/** The same where tokens or a membership change: the wallet is locked before the row, as payments do. */
const governedPurse = async (
  deps: ManageUserDeps,
  db: Executor,
  userId: number,
  by: Identity,
): Promise<store.LockedUser> => {
  await deps.lockPurse(db, userId);
  return governed(db, userId, by);
};

/**
 * What a manager gives to a manager, only an owner gives: nobody gives anything to themselves, and two
 * do not give it to each other.
 */
const mayGive = (row: store.LockedUser, by: Identity): void => {
  if (row.manager && !by.owner)
    throw new Refusal('manage_unsuitable', '只有所有者可以给管理员增加余额、会员或订阅');
};

const registered = (row: store.LockedUser): void => {
  if (row.guest) throw new Refusal('manage_unsuitable', '访客没有账号，不能这样做');
};

const changed = <T extends object>(before: T, after: Partial<T>): ActNote['from'] =>
  Object.fromEntries(Object.keys(after).map((key) => [key, before[key as keyof T]]));

export const userPage = async (
  db: Executor,
  input: Parsed<'adminUserList'>,
): Promise<Out<'adminUserList'>> => {
  const { page, page_size: size } = input;
  const part = windowOf(page, size);
  const { rows, total } = await store.pageOfUsers(db, input, part);
  return {
    list: rows.map(viewOf),
    ...pageOf(total, page, size),
  };
};

export const userInfo = async (db: Executor, userId: number): Promise<Out<'adminUserInfo'>> => {
  const [row, figures, days] = await Promise.all([
    store.userOf(db, userId),
    store.figuresOf(db, userId),
    store.daysOf(db, userId),
  ]);
  if (!row) throw new Refusal('not_found', '没有这个用户');
  return {
    user: viewOf(row),
    figures: {
      ...figures,
      last_seen_at: figures.last_seen_at ? new Date(figures.last_seen_at).toISOString() : null,
    },
    days,
  };
};

export const userLedger = async (
  deps: ManageUserDeps,
  db: Executor,
  { user_id: userId, ...input }: Parsed<'adminUserLedger'>,
): Promise<Out<'adminUserLedger'>> => {
  const { list, total } = await deps.ledgerPage(db, { userId, ...input }, ledgerSize);
  return {
    list: list.map((row) => ({
      id: row.id,
      pot: row.pot,
      kind: row.kind,
      amount: row.amount,
      reference: row.reference,
      remark: row.remark,
      created_at: row.createdAt.toISOString(),
    })),
    ...pageOf(total, input.page, ledgerSize),
  };
};

export const updateUser = async (
  deps: ManageUserDeps,
  db: Executor,
  input: Parsed<'updateUser'>,
  by: Identity,
  note: Note,
): Promise<void> => {
  const row = await governed(db, input.user_id, by);
  const values: Partial<
    Pick<typeof row, 'sessionBlacklist' | 'disabled' | 'userName' | 'peopleGroup'>
  > = {};
  let hidden = 0;
  if (input.session_blacklist !== undefined)
    values.sessionBlacklist = input.session_blacklist === 1;
  if (input.disabled !== undefined) {
    if (row.id === by.id) throw new Refusal('manage_unsuitable', '不能禁用自己');
    values.disabled = input.disabled === 1;
    if (values.disabled && !row.disabled) hidden = await deps.countOpen(db, row.id);
  }
  if (input.user_name !== undefined) {
    const name = normalName(input.user_name);
    const fault = name === '' ? '名称不能为空' : nameFault(name);
    if (fault) throw new Refusal('bad_input', `user_name ${fault}`);
    await deps.refuseBlocked(db, name);
    values.userName = name;
  }
  if (input.people_group !== undefined && input.people_group !== row.peopleGroup) {
    registered(row);
    mayGive(row, by);
    if (input.people_group !== null) await requireGroup(db, input.people_group);
    values.peopleGroup = input.people_group;
  }
  await store.changeUser(db, row.id, values);
  const to = hidden > 0 ? { ...values, hidden } : values;
  note({ subject: `user:${row.id}`, from: changed(row, values), to });
};

export const updateTokens = async (
  deps: ManageUserDeps,
  db: Executor,
  input: Parsed<'updateTokens'>,
  by: Identity,
  note: Note,
): Promise<Out<'updateTokens'>> => {
  const row = await governedPurse(deps, db, input.user_id, by);
  registered(row);
  if (input.add === 1) mayGive(row, by);
  const sign = input.add === 1 ? 1 : -1;
  const remark = input.remarks || (sign > 0 ? '管理员增加' : '管理员扣除');
  const balance = await deps.adjust(db, {
    userId: row.id,
    tokens: sign * input.tokens,
    remarks: remark,
    managerId: by.id,
  });
  if (balance === null) throw new Refusal('balance', '余额不够扣除这么多');
  note({
    subject: `user:${row.id}`,
    from: { chatgpt_balance: balance - sign * input.tokens },
    to: { chatgpt_balance: balance },
  });
  return { chatgpt_balance: balance };
};

export const activateAbility = async (
  deps: ManageUserDeps,
  db: Executor,
  input: Parsed<'activatedAbility'>,
  by: Identity,
  note: Note,
): Promise<void> => {
  const row = await governedPurse(deps, db, input.user_id, by);
  registered(row);
  mayGive(row, by);
  const values: Partial<Pick<typeof row, 'vipExpiredAt' | 'subscribe'>> = {};
  if (input.vip_expired_at !== undefined) {
    const until = readTime(input.vip_expired_at ?? '', 'vip_expired_at', { lastDay: true });
    values.vipExpiredAt = until;
    await deps.setVipEnd(db, row.id, until);
  }
  if (input.subscribe !== undefined) values.subscribe = input.subscribe;
  if (input.subscribe !== undefined)
    await store.changeUser(db, row.id, { subscribe: input.subscribe });
  if (input.gift !== undefined && input.gift > 0)
    await deps.adjust(db, {
      userId: row.id,
      tokens: input.gift,
      remarks: input.remarks || '管理员赠送',
      managerId: by.id,
    });
  note({
    subject: `user:${row.id}`,
    from: changed(row, values),
    to: { ...values, ...(input.gift ? { gift: input.gift } : {}) },
  });
};

export const updatePrivacy = async (
  deps: ManageUserDeps,
  db: Executor,
  input: Parsed<'updateUserSession'>,
  by: Identity,
  note: Note,
): Promise<Out<'updateUserSession'>> => {
  const row = await governed(db, input.user_id, by);
  const forced = input.session_private;
  const hide = input.history_private === 1 ? deps.hideSessions : deps.countOpen;
  // Counted before: whoever is forced to be private is so with all there is.
  const hides = input.history_private === 1 || (forced === 1 && !row.sessionPrivate);
  const hidden = hides ? await hide(db, row.id) : 0;
  if (forced !== undefined) await store.changeUser(db, row.id, { sessionPrivate: forced === 1 });
  note({
    subject: `user:${row.id}`,
    from: { session_private: row.sessionPrivate },
    to: { session_private: forced ?? row.sessionPrivate, hidden },
  });
  return { changed: hidden };
};

export const resetPassword = async (
  deps: ManageUserDeps,
  db: Executor,
  input: Parsed<'resetPassword'>,
  by: Identity,
  note: Note,
): Promise<Out<'resetPassword'>> => {
  const row = await governed(db, input.user_id, by);
  registered(row);
  const password = input.password || randomBytes(9).toString('base64url');
  const fault = passwordFault(password);
  if (fault) throw new Refusal('bad_input', `password ${fault}`);
  await store.changeUser(db, row.id, { passwordHash: await hashPassword(password, by) });
  // Whoever had the old one is out; the manager who did it to themselves, too.
  const ended = await endLogins(db, row.id);
  const passkeys = await dropPasskeysOf(db, row.id);
  const keys = await deps.deleteKeysOf(db, row.id);
  const { gone } = await dropLatelyBound(db, row.id, { by: null, agent: '' });
  note({ subject: `user:${row.id}`, to: { ended, passkeys, keys, unbound: gone.length } });
  return { password };
};

export const signOut = async (
  db: Executor,
  userId: number,
  by: Identity,
  note: Note,
): Promise<Out<'signOutUser'>> => {
  const row = await governed(db, userId, by);
  const ended = await endLogins(db, row.id);
  note({ subject: `user:${row.id}`, to: { ended } });
  return { ended };
};

export const managerList = async (
  deps: ManageUserDeps,
  db: Executor,
): Promise<Out<'managerList'>> => {
  const rows = await store.listManagers(db);
  const totp = await deps.secondFactor.having(db);
  const acts = await deps.lastActs(db);
  return {
    list: rows.map((row) => ({
      user_id: row.id,
      account: row.account ?? '',
      user_name: row.userName,
      rank: row.owner ? 'owner' : row.auditor ? 'auditor' : 'manager',
      totp: totp.has(row.id),
      last_act_at: acts.get(row.id)?.toISOString() ?? null,
    })),
  };
};

export const setManager = async (
  deps: ManageUserDeps,
  db: Executor,
  { user_id: userId, rank }: Parsed<'setManager'>,
  by: Identity,
  note: Note,
): Promise<void> => {
  const row = await governed(db, userId, by);
  registered(row);
  if (row.owner && rank !== 'owner' && (await store.countOwners(db)) < 2)
    throw new Refusal('manage_unsuitable', '至少要有一位所有者');
  const values = {
    manager: rank !== 'none',
    owner: rank === 'owner',
    auditor: rank === 'auditor',
  };
  await store.changeUser(db, row.id, values);
  note({
    subject: `user:${row.id}`,
    from: { manager: row.manager, owner: row.owner, auditor: row.auditor },
    to: values,
  });
};
