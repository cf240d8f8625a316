import { api } from '@/platform/api.ts';
import { useAuth } from '@/platform/auth-store.ts';
import type { ForumCategory } from '@contract/forum.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

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
  return useQuery({
    queryKey: ['sessionList', 'forum', filters],
    queryFn: ({ signal }) =>
      api.sessionList({ channel: 'forum', ...filters }, { signal, quiet: true }),
    enabled: signedIn || !isOwn(filters.category),
    placeholderData: keepPreviousData,
  });
};

export const useNews = (page: number) => {
  const { signedIn } = useAuth();
  return useQuery({
    queryKey: ['newsList', page],
    queryFn: ({ signal }) => api.newsList({ page }, { signal, quiet: true }),
    enabled: signedIn,
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });
};
