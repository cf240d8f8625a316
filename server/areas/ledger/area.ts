import type { Area } from '../../area.ts';
import { ledgerHandlers } from './ledger.handlers.ts';
import { tellVipEnds, vipEndSource } from './vip.service.ts';

export const ledgerArea = () =>
  ({
    chores: [tellVipEnds],
    waits: { membership: vipEndSource },
    serve: () => ledgerHandlers,
  }) satisfies Area;
