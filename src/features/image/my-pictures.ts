import { useAuth } from '@/shared/auth-store.ts';
import { shelves, sizeOf, type Shelf, type ShelvedPicture } from '@/shared/image/shelves.ts';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

export type MyPicture = ShelvedPicture & { width: number; height: number };

const none: readonly ShelvedPicture[] = [];

/**
 * All pictures of a shelf as far as they are read. What is new stands at their head: the first page
 * alone is read again whenever something has changed, since reading hundreds of pages again is no use.
 */
export const useMyPictures = (shelf: Shelf) => {
  const { token } = useAuth();
  const client = useQueryClient();
  const { read } = shelves[shelf];
  const enabled = token !== '';
  const all = useInfiniteQuery({
    queryKey: ['my-pictures', shelf],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page < last.page_count ? last.page + 1 : undefined),
    staleTime: Infinity,
    refetchOnReconnect: false,
    meta: { steady: true },
    enabled,
  });
  const head = useQuery({
    queryKey: ['my-pictures-head', shelf],
    queryFn: ({ signal }) => read(1, signal),
    enabled: enabled && all.isSuccess,
  }).data?.list;
  const known = all.data?.pages;
  const pictures = useMemo(() => {
    const found = new Map<string, MyPicture>();
    for (const page of [head ?? none, ...(known ?? []).map(({ list }) => list)])
      // Pages move on when something new comes before them: each picture is shown once.
      for (const picture of page)
        if (!found.has(picture.uuid))
          found.set(picture.uuid, { ...picture, ...sizeOf(picture.size) });
    return [...found.values()];
  }, [head, known]);
  // So much is new that between it and what was read something may be missing.
  const first = known?.[0]?.list;
  const apart =
    head !== undefined &&
    first !== undefined &&
    first.length > 0 &&
    !head.some(({ uuid }) => uuid === first[0]?.uuid);
  useEffect(() => {
    if (apart) void client.resetQueries({ queryKey: ['my-pictures', shelf] });
  }, [apart, client, shelf]);
  return { all, pictures, total: Math.max(known?.at(-1)?.total ?? 0, pictures.length) };
};
