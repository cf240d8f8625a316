import { Readable } from 'node:stream';
import type { Handlers } from '../../http/handlers.ts';
import type { AuthService } from '../auth/auth.service.ts';
import { sessionsByMonth } from '../session/session.service.ts';
import { noteLowTold } from './ledger.service.ts';
import { noteVipEndSeen } from './vip.service.ts';
import { transactionCsv, transactions, usageOf } from './usage.service.ts';

type Served = 'usage' | 'transactionList' | 'transactionFile' | 'lowBalanceSeen' | 'vipEndSeen';

export const createLedgerHandlers = (auth: AuthService): Pick<Handlers, Served> => ({
  usage: async ({ month }, { db, user }) => {
    const used = await usageOf(db, user.id, month, sessionsByMonth);
    const me = await auth.userView(db, user.id);
    const { user_name, vip, vip_expired_at, chatgpt_balance, vip_balance, subscribe } = me;
    return {
      ...used,
      userInfo: { user_id: me.id, user_name, chatgpt_balance, vip_balance, subscribe },
      vipInfo: { user_name, vip, vip_expired_at },
    };
  },
  transactionList: (input, { db, user }) => transactions(db, user.id, input),
  transactionFile: async ({ month, model, type }, { db, user, reply }) => {
    const name = `consumption-${month ?? 'all'}.csv`;
    await reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(Readable.from(transactionCsv(db, user.id, { month, model, type })));
  },
  vipEndSeen: async (_input, { db, user }) => {
    await noteVipEndSeen(db, user.id);
    return {};
  },
  lowBalanceSeen: async (_input, { db, user }) => {
    await noteLowTold(db, user.id);
    return {};
  },
});
