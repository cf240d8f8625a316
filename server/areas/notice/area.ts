import path from 'node:path';
import type { Area } from '#server/area.ts';
import { createManageNoticeHandlers } from './manage-notice.service.ts';
import { createNoticeHandlers } from './notice.handlers.ts';
import { shownByNotices } from './notice.store.ts';

export const noticeArea = () =>
  ({
    holds: [{ table: 'notice_reads', of: ['user_id'], end: 'delete' }],
    shows: shownByNotices,
    serve: ({ storage, auth, settings }) => ({
      ...createNoticeHandlers({ storage, auth }),
      ...createManageNoticeHandlers({
        storage,
        pageFolder: path.join(settings.root, 'dist', 'page'),
      }),
    }),
  }) satisfies Area;
