import type { Area } from '../../area.ts';
import { createManageNoticeHandlers } from './manage-notice.service.ts';
import { createNoticeHandlers } from './notice.handlers.ts';

export const noticeArea = () =>
  ({
    serve: ({ storage, auth }) => ({
      ...createNoticeHandlers({ storage, auth }),
      ...createManageNoticeHandlers({ storage }),
    }),
  }) satisfies Area;
