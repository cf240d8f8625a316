import { useCall } from '#src/platform/call-query.ts';

/** The groups of the forum, in their order. */
export const useForumGroups = () =>
  useCall('forumGroups', {}, { select: ({ list }) => list, staleTime: 5 * 60_000 });
