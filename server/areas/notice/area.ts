import type { Area } from '../../area.ts';
import { createManageNoticeHandlers } from './manage-notice.service.ts';
import { createNoticeHandlers } from './notice.handlers.ts';
import { shownByNotices } from './notice.store.ts';

export const noticeArea = () =>
  ({
    holds: [{ table: 'notice_reads', of: ['user_id'], end: 'delete' }],
    shows: shownByNotices,
    serve: ({ storage, auth }) => ({
      ...createNoticeHandlers({ storage, auth }),
      ...createManageNoticeHandlers({ storage }),
    }),
  }) satisfies Area;
