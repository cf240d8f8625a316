import type { Handlers } from '#server/http/handlers.ts';
import { findLabel, stateOf } from './compliance.service.ts';
import { readCompliance, writeCompliance } from './compliance.store.ts';

type Served = 'complianceState' | 'saveCompliance' | 'findLabel';

export const complianceHandlers: Pick<Handlers, Served> = {
  complianceState: async (_input, { db }) => stateOf(await readCompliance(db)),

  saveCompliance: async (change, { db, noteAct }) => {
    const before = await readCompliance(db);
    const after = await writeCompliance(db, change);
    noteAct({ subject: 'compliance', from: before, to: after });
    return stateOf(after);
  },

  findLabel: ({ label }, { db }) => findLabel(db, label),
};
