import { api } from '@/platform/api.ts';
import { useQuery } from '@tanstack/react-query';

/** The groups of the forum, in their order. */
export const useForumGroups = () =>
  useQuery({
    queryKey: ['forumGroups'],
    queryFn: ({ signal }) => api.forumGroups({}, { signal, quiet: true }),
    select: ({ list }) => list,
    staleTime: 5 * 60_000,
  });
