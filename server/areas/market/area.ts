import type { Area, Kit } from '#server/area.ts';
import { appPayable } from './app-payable.ts';
import { createDownloads } from './download.service.ts';
import { createManageMarketHandlers, createMarketHandlers } from './market.handlers.ts';
import { shownByApps } from './market.store.ts';
import { createPublishing } from './publish-app.service.ts';

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
      const downloads = createDownloads({ db, storage });
      const publishing = createPublishing({ storage, files, settings, log });
      return {
        ...createMarketHandlers({ db, downloads, payments, settings }),
        ...createManageMarketHandlers(publishing, downloads),
      };
    },
  } satisfies Area;
};
