import type { Area, Kit } from '#server/area.ts';
import { appPayable } from './app-payable.ts';
import { createManageMarket } from './manage-market.service.ts';
import { createManageMarketHandlers, createMarketHandlers } from './market.handlers.ts';
import { createMarketService } from './market.service.ts';
import { shownByApps } from './market.store.ts';

export const marketArea = ({ db, storage, files, settings, log }: Kit) => {
  return {
    holds: [
      { table: 'app_reports', of: ['user_id'], end: 'delete' },
      { table: 'app_comments', of: ['user_id'], end: 'delete' },
      { table: 'app_downloads', of: ['user_id'], end: { set: { ip: `''` } } },
      { table: 'app_purchases', of: ['user_id'], end: { keep: 'what was bought, for the books' } },
    ],
    payables: [appPayable],
    shows: shownByApps,
    serve: ({ payments }) => {
      const market = createMarketService({ db, storage, payments });
      const manage = createManageMarket({ storage, files, market, settings, log });
      return { ...createMarketHandlers(market, settings), ...createManageMarketHandlers(manage) };
    },
  } satisfies Area;
};
