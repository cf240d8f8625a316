import type { Area, Kit } from '#server/area.ts';
import { endJobsOf } from '#server/jobs/job-end.ts';
import { kindAmong } from '#server/jobs/job-kind.ts';
import { exportDeps } from '../export/export-deps.ts';
import { createExportService } from '../export/export.service.ts';
import { release } from '../ledger/ledger.service.ts';
import { appsOfPerson } from '../market/person-apps.service.ts';
import { orderList } from '../payment/order-view.ts';
import { createAccountData } from './account-data.ts';
import { createAccountExport } from './account-export.ts';
import { createAccountHandlers } from './account.handlers.ts';
import { createAccountService } from './account.service.ts';
import { accountHeld } from './account-held.ts';
import * as store from './account.store.ts';
import { createLeaving } from './leaving.ts';
import { trainingFilesOf } from '../train/leave-training.ts';
import { rewardActive, takeInvite } from './invite.service.ts';

/** @param areas all of them: they say together what is a person's */
export const accountArea = (kit: Kit, areas: () => readonly Area[]) => {
  const { db, storage, files, log } = kit;
  const held = () => areas().flatMap((area) => area.holds ?? []);
  const leaving = createLeaving({
    db,
    log,
    held,
    leave: () => areas().flatMap((area) => area.leave ?? []),
    endJobs: (tx, userId) => {
      const kindOf = kindAmong(areas().flatMap((area) => area.jobKinds ?? []));
      return endJobsOf(tx, { log, kindOf, release }, userId);
    },
  });
  const exports = createExportService(exportDeps(kit));
  return {
    jobKinds: [
      createAccountExport(
        { db, storage },
        createAccountData({
          storage,
          profile: store.profileOf,
          orders: orderList,
          apps: appsOfPerson,
          session: (executor, session, signal) => exports.json(executor, session, signal),
          held,
          trainingFiles: trainingFilesOf,
        }),
      ),
    ],
    chores: [
      async (tx) => {
        for (const key of await store.removeFiles(tx)) await storage.delete(key);
      },
      () => leaving.finishOthers(),
      rewardActive,
    ],
    holds: accountHeld,
    leave: async (tx, userId) => {
      const keys = await store.removeFiles(tx, userId);
      return async () => {
        for (const key of keys) await storage.delete(key);
      };
    },
    shows: store.shownAsAvatars,
    registered: takeInvite,
    serve: ({ auth, replies, jobs, cancelJobs, payments }) => {
      const stopSession = async (sessionId: number) => {
        await Promise.all([replies.stopSession(sessionId), cancelJobs({ sessionId })]);
      };
      return createAccountHandlers(
        createAccountService({
          db,
          files,
          provePassword: auth.provePassword,
          loginDays: kit.settings.loginDays,
          endAccount: (userId) =>
            leaving.end(userId, async ({ sessions, jobs: open }) => {
              for (const id of sessions) await stopSession(id);
              await Promise.all(open.map((id) => jobs.cancel(id)));
            }),
          closeOrders: payments.closeOrdersOf,
          stopSession,
        }),
        { auth, storage, requireDisk: kit.disk.require },
      );
    },
  } satisfies Area;
};
