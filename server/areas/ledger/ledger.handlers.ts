import { Readable } from 'node:stream';
import type { Handlers } from '#server/http/handlers.ts';
import { noteLowTold } from './ledger.service.ts';
import { noteVipEndSeen } from './vip.service.ts';
import { transactionCsv, transactions } from './usage.service.ts';

type Served = 'transactionList' | 'transactionFile' | 'lowBalanceSeen' | 'vipEndSeen';

export const ledgerHandlers: Pick<Handlers, Served> = {
  transactionList: (input, { db, user }) => transactions(db, user.id, input),
  transactionFile: async (input, { db, user, reply }) => {
    const { name, pieces } = transactionCsv(db, user.id, input);
    await reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="consumption-${name}.csv"`)
      .send(Readable.from(pieces));
  },
  vipEndSeen: async (_input, { db, user }) => {
    await noteVipEndSeen(db, user.id);
    return {};
  },
  lowBalanceSeen: async (_input, { db, user }) => {
    await noteLowTold(db, user.id);
    return {};
  },
};
