import { licenceFiles } from '#contract/licence-files.ts';
import type { Handlers } from '#server/http/handlers.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { AuthService } from '../auth/auth.service.ts';
import {
  attachmentOf,
  markNotice,
  noticeList,
  sourceCode,
  unreadNotice,
} from './notice.service.ts';

export const createNoticeHandlers = ({
  storage,
  auth,
}: {
  storage: Storage;
  auth: AuthService;
}): Pick<
  Handlers,
  'noticeInfo' | 'noticeList' | 'updateNotice' | 'downloadSourceCode' | 'noticeFile'
> => ({
  noticeInfo: async (_input, { db, user }) => {
    const { notice, unread } = await unreadNotice(db, user?.id ?? null);
    return { list: notice ? [notice] : [], unread };
  },

  downloadSourceCode: async ({ id }, { db, user }) => ({
    url: await sourceCode(db, user, id, async () => (await auth.makeTicket(db, user.jti)).ticket),
    ...licenceFiles,
  }),

  noticeFile: async ({ id }, { db, user, reply }) => {
    const { name, file } = await attachmentOf(db, storage, user, id);
    await reply
      .headers({
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="notice"; filename*=UTF-8''${encodeURIComponent(name)}`,
        'content-length': file.size,
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
      })
      .send(file.stream);
  },

  noticeList: (input, { db, user }) => noticeList(db, user?.id ?? null, input),

  updateNotice: async ({ notice_id: id }, { db, user }) => {
    await markNotice(db, user.id, id);
    return {};
  },
});
