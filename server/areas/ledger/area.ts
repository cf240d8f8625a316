import type { Area, Kit } from '#server/area.ts';
import { createBooksCheck } from './books-check.ts';
import { ledgerHandlers } from './ledger.handlers.ts';
import { tellVipEnds, vipEndSource } from './vip.service.ts';

export const ledgerArea = ({ log }: Pick<Kit, 'log'>) => {
  const books = createBooksCheck(log);
  return {
    holds: [
      ...(['wallets', 'ledger', 'holds', 'usage_days'] as const).map((table) => ({
        table,
        of: ['user_id'],
        end: { keep: 'the books, which the law has us keep; they hold numbers and no words' },
      })),
      { table: 'consumptions', of: ['user_id'], end: { set: { human: `''` } } },
    ],
    chores: [tellVipEnds, books.chore],
    waits: { membership: vipEndSource },
    serve: () => ledgerHandlers,
    routes: (_http, { figures }) =>
      figures.gauge(
        'queqiao_wallets_differing',
        'Wallets that differ from the sum of their ledger, as this process last found',
        () => books.differing(),
      ),
  } satisfies Area;
};
