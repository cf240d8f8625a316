import type { Area, Kit } from '../../area.ts';
import { createExportService } from '../export/export.service.ts';
import { appsOfPerson } from '../market/person-apps.service.ts';
import { orderList } from '../payment/order-view.ts';
import { createAccountData } from './account-data.ts';
import { createAccountExport } from './account-export.ts';
import { createAccountHandlers } from './account.handlers.ts';
import { createAccountService } from './account.service.ts';
import * as store from './account.store.ts';
import { takeInvite } from './invite.service.ts';

export const accountArea = ({ db, storage, files }: Kit) => {
  const exports = createExportService({
    storage,
    picture: (address, signal) => files.jpegForDocument(address, signal),
  });
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
    registered: takeInvite,
    serve: ({ auth, replies, cancelJobs }) =>
      createAccountHandlers(
        createAccountService({
          db,
          files,
          storage,
          stopSession: async (sessionId) => {
            await Promise.all([replies.stopSession(sessionId), cancelJobs({ sessionId })]);
          },
        }),
        { auth, storage },
      ),
  } satisfies Area;
};
