import type { Area, Kit } from '../../area.ts';
import type { Transaction } from '../../db/database.ts';
import { appPayable } from './app-payable.ts';
import { createManageMarket, picturesOf } from './manage-market.service.ts';
import { createManageMarketHandlers, createMarketHandlers } from './market.handlers.ts';
import { createMarketService } from './market.service.ts';
import { shownPictures } from './market.store.ts';

/** So often pictures are said to be in use, ms: unused ones stay for longer. */
const keepMs = 3_600_000;

export const marketArea = ({ db, storage, files, settings, log }: Kit) => {
  let kept = 0;
  /** Pictures that an app shows stay, though no message names them. */
  const keepImages = async (tx: Transaction): Promise<void> => {
    if (Date.now() - kept < keepMs) return;
    kept = Date.now();
    await files.stillUsed(tx, (await shownPictures(tx)).flatMap(picturesOf));
  };
  return {
    payables: [appPayable],
    chores: [keepImages],
    serve: ({ payments }) => {
      const market = createMarketService({ db, storage, payments });
      const manage = createManageMarket({ storage, files, payments, market, settings, log });
      return { ...createMarketHandlers(market), ...createManageMarketHandlers(manage) };
    },
  } satisfies Area;
};
