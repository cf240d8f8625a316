import type { Handlers } from '#server/http/handlers.ts';
import type { FileService } from '../file/file.service.ts';
import { findLabel, stateOf, takeUnmarked, unmarkedPage } from './compliance.service.ts';
import { exportRecords } from './records.service.ts';
import { readCompliance, writeCompliance } from './compliance.store.ts';

type Served =
  | 'complianceState'
  | 'saveCompliance'
  | 'takeUnmarked'
  | 'unmarkedList'
  | 'findLabel'
  | 'exportRecords';

export const createComplianceHandlers = (
  files: Pick<FileService, 'isThere'>,
): Pick<Handlers, Served> => ({
  complianceState: (_input, { db }) => stateOf(db),

  saveCompliance: async (change, { db, noteAct }) => {
    const before = await readCompliance(db);
    const after = await writeCompliance(db, change);
    noteAct({ subject: 'compliance', from: before, to: after });
    return stateOf(db);
  },

  takeUnmarked: ({ url, agree }, { db, user }) => takeUnmarked(db, files, { url, agree }, user.id),

  unmarkedList: ({ page }, { db }) => unmarkedPage(db, page),

  exportRecords: async (input, { db, noteAct }) => {
    const made = await exportRecords(db, input);
    const { user_id: userId, from, to, reason } = input;
    noteAct({ subject: `user:${userId}`, to: { from, to, reason, count: made.count } });
    return made;
  },

  findLabel: ({ label }, { db }) => findLabel(db, label),
});
