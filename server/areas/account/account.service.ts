import type { Out, Parsed } from '#contract/calls.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { type Context, type Identity, Refusal, type UploadedFile } from '#server/http/handlers.ts';
import { loginSeconds } from '../auth/token.ts';
import { nameFault, normalName } from '../auth/names.ts';
import type { AuthService } from '../auth/auth.service.ts';
import { hashPassword, passwordFault } from '../auth/password.ts';
import { deleteKeysOf } from '../developer/key.service.ts';
import type { FileService } from '../file/file.service.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { busyAmong, deleteAllOf, makeAllPrivate } from '../session/session.service.ts';
import * as store from './account.store.ts';
import { deviceName } from '../auth/device-name.ts';

export interface AccountDeps {
  db: Database;
  files: FileService;
  provePassword: AuthService['provePassword'];
  /** The age in days at which a login ends. */
  loginDays: number;
  /** Shuts and empties an account. False: that was done meanwhile. */
  endAccount: (userId: number) => Promise<boolean>;
  /** Closes somebody's unpaid orders; gives how many turned out to be paid. */
  closeOrders: (userId: number) => Promise<number>;
  /** Stops what is being made in a session. */
  stopSession: (sessionId: number) => Promise<void>;
}

const fault = (field: string, text: string): Refusal =>
  new Refusal('bad_input', `${field}：${text}`);

/** What people do with their account itself. */
export const createAccountService = ({
  db,
  files,
  provePassword,
  loginDays,
  endAccount,
  closeOrders,
  stopSession,
}: AccountDeps) => {
  return {
    saveName: async (executor: Executor, userId: number, given: string): Promise<void> => {
      const name = normalName(given);
      const wrong = name === '' ? '名称不能为空！' : nameFault(name);
      if (wrong) throw fault('user_name', wrong);
      await refuseBlocked(executor, name);
      await store.saveName(executor, userId, name);
    },

    saveAvatar: async (file: UploadedFile, user: Identity) => {
      const keep = await files.image(file, user);
      return async (executor: Executor): Promise<Out<'uploadAvatar'>> => {
        const { url } = await keep(executor);
        await store.saveAvatar(executor, user.id, url);
        return { url, avatar: url };
      };
    },

    /**
     * The other logins end with the old password, and so do API keys unless they are to stay; gives
     * how many. @throws Refusal wrong_password, too_many, bad_input
     */
    changePassword: async (
      input: Parsed<'changePassword'>,
      context: Context<Identity>,
    ): Promise<Out<'changePassword'>> => {
      const { user } = context;
      if (input.password !== input.password2) throw fault('password2', '两次输入的密码不一致！');
      const wrong = passwordFault(input.password);
      if (wrong) throw fault('password', wrong);
      const from = await provePassword(user, input.old_password, context);
      const to = await hashPassword(input.password, user);
      return db.transaction(async (tx) => {
        if (!(await store.savePassword(tx, user.id, { from, to })))
          throw new Refusal('wrong_password');
        await store.revokeLogins(tx, user.id, { but: user.jti });
        return { keys_removed: input.keep_keys === 1 ? 0 : await deleteKeysOf(tx, user.id) };
      });
    },

    devices: async (executor: Executor, user: Identity): Promise<Out<'deviceList'>> => {
      const rows = await store.loginsOf(executor, user.id, loginDays);
      return {
        list: rows
          .map((row) => ({
            id: row.jti,
            name: deviceName(row.agent),
            current: row.jti === user.jti ? 1 : 0,
            created_at: row.createdAt.toISOString(),
            // A login is prolonged on the days on which it is used.
            fresh: row.fresh ? 1 : 0,
            seen_at: new Date(row.expiresAt.getTime() - loginSeconds * 1000).toISOString(),
          }))
          .sort((a, b) => b.current - a.current),
      };
    },

    /** @throws Refusal not_found */
    signOut: async (executor: Executor, user: Identity, id: string | undefined): Promise<void> => {
      const which = id === undefined ? { but: user.jti } : { only: id };
      const ended = await store.revokeLogins(executor, user.id, which);
      if (id !== undefined && ended === 0) throw new Refusal('not_found', '这个设备已经退出登录');
    },

    makeAllPrivate,

    /** Deletes all sessions; gives their number and what stops what is still being made in them. */
    deleteSessions: async (executor: Executor, userId: number) => {
      const ids = await deleteAllOf(executor, userId);
      return {
        count: ids.length,
        stop: async () => {
          for (const id of ids.length > 0 ? await busyAmong(db, ids) : []) await stopSession(id);
        },
      };
    },

    /**
     * Ends an account: who it was and what it said is gone for good; orders and spends stay without
     * a name, as the books must. @throws Refusal order_unsuitable
     */
    remove: async (user: Identity): Promise<void> => {
      if (await store.isManager(db, user.id))
        throw new Refusal('order_unsuitable', '管理员账号不能注销');
      if ((await closeOrders(user.id)) > 0)
        throw new Refusal('order_unsuitable', '有一笔付款刚刚到账，请先看过余额，再注销账号');
      if (!(await endAccount(user.id))) throw new Refusal('account_disabled', '账号已经注销');
    },
  };
};

export type AccountService = ReturnType<typeof createAccountService>;
