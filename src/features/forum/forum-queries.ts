import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import type { ForumCategory } from '#contract/forum.ts';

export interface ForumFilters {
  category?: ForumCategory | undefined;
  group_id?: number | undefined;
  model?: string | undefined;
  user_id?: number | undefined;
  query?: string | undefined;
  page: number;
}

/** Lists that are one's own: there is nothing to ask for without an account. */
export const isOwn = (category: ForumCategory | undefined): boolean =>
  category === 'mine' || category === 'replied' || category === 'history';

export const useForum = (filters: ForumFilters) => {
  const { signedIn } = useAuth();
  return useCall(
    'sessionList',
    { channel: 'forum', ...filters },
    { enabled: signedIn || !isOwn(filters.category), ...keepLast },
  );
};

export const useNews = (page: number) => {
  const { signedIn } = useAuth();
  return useCall('newsList', { page }, { enabled: signedIn, refetchInterval: 60_000, ...keepLast });
};
