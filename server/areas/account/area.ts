import type { Area, Kit } from '../../area.ts';
import { exportDeps } from '../export/export-deps.ts';
import { createExportService } from '../export/export.service.ts';
import { appsOfPerson } from '../market/person-apps.service.ts';
import { orderList } from '../payment/order-view.ts';
import { createAccountData } from './account-data.ts';
import { createAccountExport } from './account-export.ts';
import { createAccountHandlers } from './account.handlers.ts';
import { createAccountService } from './account.service.ts';
import * as store from './account.store.ts';
import { takeInvite } from './invite.service.ts';

export const accountArea = (kit: Kit) => {
  const { db, storage, files } = kit;
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
        }),
      ),
    ],
    chores: [
      async (tx) => {
        for (const key of await store.removeFiles(tx)) await storage.delete(key);
      },
    ],
    shows: store.shownAsAvatars,
    registered: takeInvite,
    serve: ({ auth, replies, cancelJobs, payments }) =>
      createAccountHandlers(
        createAccountService({
          db,
          files,
          storage,
          closeOrders: payments.closeOrdersOf,
          stopSession: async (sessionId) => {
            await Promise.all([replies.stopSession(sessionId), cancelJobs({ sessionId })]);
          },
        }),
        { auth, storage },
      ),
  } satisfies Area;
};
