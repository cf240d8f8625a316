import type { Area } from '../../area.ts';
import { ledgerHandlers } from './ledger.handlers.ts';
import { tellVipEnds, vipEndSource } from './vip.service.ts';

export const ledgerArea = () =>
  ({
    holds: [
      ...(['wallets', 'ledger', 'holds', 'usage_days'] as const).map((table) => ({
        table,
        of: ['user_id'],
        end: { keep: 'the books, which the law has us keep; they hold numbers and no words' },
      })),
      { table: 'consumptions', of: ['user_id'], end: { set: { human: `''` } } },
    ],
    chores: [tellVipEnds],
    waits: { membership: vipEndSource },
    serve: () => ledgerHandlers,
  }) satisfies Area;
