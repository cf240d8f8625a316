import type { Handlers } from '#server/http/handlers.ts';
import type { FileService } from '../file/file.service.ts';
import { findLabel, stateOf, takeUnmarked, unmarkedPage } from './compliance.service.ts';
import type { Signing } from './signing.service.ts';
import { pemOf } from '#server/labels/c2pa.ts';
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
  signing: Pick<Signing, 'sealed'>,
): Pick<Handlers, Served> => ({
  complianceState: (_input, { db }) => stateOf(db),

  saveCompliance: async ({ c2pa_key: key, ...change }, { db, noteAct }) => {
    const before = await readCompliance(db);
    const sealed = await signing.sealed(db, change.c2pa_chain, key);
    const { c2pa_chain: chain } = change;
    const whole = chain === undefined ? change : { ...change, c2pa_chain: pemOf(chain) };
    const after = await writeCompliance(db, whole, sealed);
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
