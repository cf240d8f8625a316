import { ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { dateTime } from '#src/platform/format.ts';
import { keepNoticeSeen, useUnreadNotices } from '#src/platform/queries.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useState } from 'react';

const NoticeSheet = lazyAsked(() => import('./notice-sheet.tsx'));

/** Closed in this load of the page: not shown again before the next one. */
const dismissed = new Set<number>();

/**
 * The newest system notice that its reader has not acknowledged. 知道了 marks it as read for good;
 * closing puts it away until the page is loaded again.
 */
export const NoticePopup = () => {
  const { token } = useAuth();
  const [, setClosed] = useState(0);
  const unread = useUnreadNotices().notice;
  const notice = unread && !dismissed.has(unread.id) ? unread : undefined;
  if (!notice) return null;
  const close = () => {
    dismissed.add(notice.id);
    setClosed(dismissed.size);
  };
  const acknowledge = () => {
    close();
    if (token === '') {
      keepNoticeSeen(notice.id);
      return;
    }
    // The call has shown its own failure; the notice then comes again with the next load.
    api
      .updateNotice({ notice_id: notice.id })
      .then(() => queryClient.invalidateQueries({ queryKey: ['noticeInfo'] }))
      .catch(ignoreApiError);
  };
  return (
    <NoticeSheet
      content={notice.content}
      time={dateTime(notice.created_at)}
      onClose={close}
      onAcknowledge={acknowledge}
    />
  );
};
