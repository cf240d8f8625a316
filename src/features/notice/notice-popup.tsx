import { api } from '@/shared/api.ts';
import { ApiError } from '@/shared/api-error.ts';
import { accountOf, useAuth } from '@/shared/auth-store.ts';
import { dateTime } from '@/shared/format.ts';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';

const NoticeSheet = lazy(() => import('./notice-sheet.tsx'));

/** Closed in this load of the page: not shown again before the next one. */
const dismissed = new Set<number>();

/**
 * The newest system notice that its reader has not acknowledged. 知道了 marks it as read for good;
 * closing puts it away until the page is loaded again.
 */
export const NoticePopup = () => {
  const { token } = useAuth();
  const [, setClosed] = useState(0);
  const unread = useQuery({
    queryKey: ['noticeInfo', accountOf(token)],
    queryFn: ({ signal }) => api.noticeInfo({}, { signal, quiet: true }),
    enabled: token !== '',
    staleTime: Infinity,
    retry: false,
    meta: { steady: true },
  });
  const notice = unread.data?.list.find((each) => !dismissed.has(each.id));
  if (!notice) return null;
  const close = () => {
    dismissed.add(notice.id);
    setClosed(dismissed.size);
  };
  const acknowledge = () => {
    close();
    // The call has shown its own failure; the notice then comes again with the next load.
    api.updateNotice({ notice_id: notice.id }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  };
  return (
    <Suspense fallback={null}>
      <NoticeSheet
        content={notice.content}
        time={dateTime(notice.created_at)}
        onClose={close}
        onAcknowledge={acknowledge}
      />
    </Suspense>
  );
};
