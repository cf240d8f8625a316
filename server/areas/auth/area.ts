import { orderTypes } from '#contract/kinds.ts';
import type { Area } from '#server/area.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { ledgerPage } from '../ledger/ledger-page.service.ts';
import { balances, lockPurse } from '../ledger/ledger.service.ts';
import { setVipEnd } from '../ledger/vip.service.ts';
import { bookAdjustment } from '../payment/adjustment.service.ts';
import { countOpenOf, hideSessionsOf } from '../session/manage-session.service.ts';
import { lastActs } from '../stats/acts.service.ts';
import { createAuthHandlers } from './auth.handlers.ts';
import { removeExpiredWays, removeOldEvents } from './ways.store.ts';
import { createWaysHandlers } from './ways.handlers.ts';
import { createManageUserHandlers } from './manage-user.handlers.ts';

export const authArea = () =>
  ({
    holds: [
      { table: 'logins', of: ['user_id'], end: 'delete', take: ['created_at', 'agent'] },
      { table: 'second_factors', of: ['user_id'], end: 'delete' },
      {
        table: 'account_events',
        of: ['user_id'],
        end: 'delete',
        take: ['kind', 'way', 'agent', 'created_at'],
      },
      {
        table: 'identities',
        of: ['user_id'],
        end: 'delete',
        take: ['issuer', 'subject', 'label', 'created_at'],
      },
      { table: 'provider_flows', of: ['user_id'], end: 'delete' },
      {
        table: 'passkeys',
        of: ['user_id'],
        end: 'delete',
        take: ['name', 'host', 'created_at', 'used_at'],
      },
      { table: 'passkey_questions', of: ['user_id'], end: 'delete' },
    ],
    chores: [removeOldEvents, removeExpiredWays],
    serve: ({ auth, secondFactor }) => ({
      ...createAuthHandlers(auth, secondFactor),
      ...createWaysHandlers(auth.ways),
      ...createManageUserHandlers({
        secondFactor,
        deleteKeysOf: auth.deleteKeysOf,
        lockPurse: (db, userId) => inTransaction(db, (tx) => lockPurse(tx, userId)),
        adjust: async (db, { userId, tokens, remarks, managerId }) => {
          const { balance } = await balances(db, userId);
          if (balance + tokens < 0) return null;
          await bookAdjustment(db, {
            userId,
            type: orderTypes.token,
            title: remarks,
            tokens,
            remarks,
            managerId,
          });
          return (await balances(db, userId)).balance;
        },
        setVipEnd: (db, userId, until) => inTransaction(db, (tx) => setVipEnd(tx, userId, until)),
        refuseBlocked,
        countOpen: countOpenOf,
        hideSessions: hideSessionsOf,
        lastActs,
        ledgerPage,
      }),
    }),
  }) satisfies Area;
