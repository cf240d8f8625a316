import type { Handlers } from '../http/handlers.ts';
import { markNotice, unreadNotice } from './notice.service.ts';

export const createNoticeHandlers = (): Pick<Handlers, 'noticeInfo' | 'updateNotice'> => ({
  noticeInfo: async (_input, { db, user }) => {
    const notice = await unreadNotice(db, user.id);
    return { list: notice ? [notice] : [] };
  },

  updateNotice: async ({ notice_id: id }, { db, user }) => {
    await markNotice(db, user.id, id);
    return {};
  },
});
