import type { Handlers } from '../http/handlers.ts';
import { transactions } from './ledger.service.ts';

export const createLedgerHandlers = (): Pick<Handlers, 'transactionList'> => ({
  transactionList: (input, { db, user }) => transactions(db, user.id, input),
});
