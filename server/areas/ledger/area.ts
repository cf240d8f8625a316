import type { Area } from '../../area.ts';
import { createLedgerHandlers } from './ledger.handlers.ts';
import { tellVipEnds, vipEndSource } from './vip.service.ts';

export const ledgerArea = () =>
  ({
    chores: [tellVipEnds],
    waits: { membership: vipEndSource },
    serve: ({ auth }) => createLedgerHandlers(auth),
  }) satisfies Area;
