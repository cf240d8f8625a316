import { randomUUID } from 'node:crypto';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type Handlers, Refusal } from '#server/http/handlers.ts';
import { beginJob, openJobsOf, requireRoomForJob } from '#server/jobs/job.service.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { AuthService } from '../auth/auth.service.ts';
import { usageOf } from '../ledger/usage.service.ts';
import { sessionsByMonth } from '../session/session.service.ts';
import { exportLivesMs } from './account-export.ts';
import type { AccountService } from './account.service.ts';
import * as store from './account.store.ts';
import { inviteInfo, inviteList, newInvite } from './invite.service.ts';

type Served =
  | 'usage'
  | 'saveUser'
  | 'uploadAvatar'
  | 'changePassword'
  | 'deviceList'
  | 'signOutDevice'
  | 'sessionPrivate'
  | 'deleteAllSession'
  | 'inviteInfo'
  | 'newInvite'
  | 'inviteList'
  | 'exportAccount'
  | 'accountFiles'
  | 'accountFile'
  | 'deleteAccount';

/** Files of all that is a person's, in a day. */
const mostExports = 10;

export const createAccountHandlers = (
  service: AccountService,
  {
    auth,
    storage,
    requireDisk,
  }: { auth: AuthService; storage: Storage; requireDisk: DiskRoom['require'] },
): Pick<Handlers, Served> => ({
  usage: async (input, { db, user }) => {
    const used = await usageOf(db, user.id, input, sessionsByMonth);
    const me = await auth.userView(db, user.id);
    const { user_name, vip, vip_expired_at, chatgpt_balance, vip_balance, subscribe } = me;
    return {
      ...used,
      userInfo: { user_id: me.id, user_name, chatgpt_balance, vip_balance, subscribe },
      vipInfo: { user_name, vip, vip_expired_at },
    };
  },
  saveUser: async ({ user_name: name }, { db, user }) => {
    await service.saveName(db, user.id, name);
    return auth.userView(db, user.id);
  },
  uploadAvatar: (_input, { user, file }) => service.saveAvatar(file, user),
  changePassword: (input, context) => service.changePassword(input, context),
  deviceList: (_input, { db, user }) => service.devices(db, user),
  signOutDevice: async ({ id }, { db, user }) => {
    await service.signOut(db, user, id);
    return {};
  },
  sessionPrivate: async (_input, { db, user }) => ({
    count: await service.makeAllPrivate(db, user.id),
  }),
  deleteAllSession: async (_input, { db, user, afterCommit }) => {
    const { count, stop } = await service.deleteSessions(db, user.id);
    afterCommit(stop);
    return { count };
  },
  inviteInfo: (_input, { db, user }) => inviteInfo(db, user.id),
  newInvite: (_input, { db, user, ip }) =>
    newInvite(db, user.id, { network: auth.networkOf(ip), provider: auth.providerOf(ip) }),
  inviteList: ({ page }, { db, user }) => inviteList(db, user.id, page),

  exportAccount: async (_input, { db, user }) => {
    await requireDisk(user);
    return inTransaction(db, async (tx) => {
      await requireRoomForJob(tx, user.id);
      if ((await store.countOrdered(tx, user.id)) >= mostExports)
        throw new Refusal('too_many_jobs', '今天整理过很多次了，请明天再试');
      if ((await openJobsOf(tx, { subject: 'account', id: user.id })).length > 0)
        throw new Refusal('too_many_jobs', '正在整理您的数据，请等它完成');
      const uuid = randomUUID();
      await beginJob(tx, {
        uuid,
        userId: user.id,
        kind: 'account-export',
        title: '账户数据',
        model: '',
        subject: { kind: 'account', id: user.id },
        input: {},
        holdId: null,
        heldTokens: 0,
        livesMs: exportLivesMs,
      });
      return { request_id: uuid };
    });
  },
  accountFiles: async (_input, { db, user }) => ({
    list: (await store.filesOf(db, user.id)).map((row) => ({
      id: row.jobId,
      size: row.size,
      created_at: row.createdAt.toISOString(),
      expires_at: row.expiresAt.toISOString(),
    })),
    running: (await openJobsOf(db, { subject: 'account', id: user.id })).length > 0 ? 1 : 0,
  }),
  accountFile: async ({ id }, { db, user, reply }) => {
    const row = await store.findFile(db, user.id, id);
    const file = row && (await storage.get(row.key));
    if (!file) throw new Refusal('not_found', '没有这个文件，或它已过期');
    await reply
      .headers({
        'content-type': 'application/zip',
        'content-disposition': 'attachment; filename="queqiao-account.zip"',
        'content-length': file.size,
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
      })
      .send(file.stream);
  },
  deleteAccount: async (_input, { user }) => {
    await service.remove(user);
    return {};
  },
});
