import { useAuth } from '#src/platform/auth-store.ts';
import { api } from '#src/platform/api.ts';
import { nextPage } from '#src/platform/call-query.ts';
import { useDeletedImages } from '#src/widgets/image/image-marks.ts';
import { sizeOf } from '#src/widgets/image/shelves.ts';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { ListedImage } from '#contract/image.ts';
import type { ExploreSearch, GallerySearch } from './gallery-search.ts';

/** Which images, in which order. */
export type Shelf =
  | { kind: 'public' | 'private'; rank: NonNullable<GallerySearch['rank']> | ''; query: string }
  | { kind: 'explore'; sort: NonNullable<ExploreSearch['sort']> | 'default' };

export type GalleryImage = ListedImage & { width: number; height: number };

const read = (shelf: Shelf, page: number, signal: AbortSignal) =>
  shelf.kind === 'explore'
    ? api.imageExplore({ page, sort: shelf.sort }, { signal, quiet: true })
    : api.imageIndex(
        {
          page,
          rank: shelf.rank,
          query: shelf.query,
          private: shelf.kind === 'private' ? 1 : 0,
        },
        { signal, quiet: true },
      );

const none: readonly ListedImage[] = [];

/**
 * The images of a shelf as far as they are read. What is new stands at their head: the first page
 * alone is read again whenever something has changed, since reading hundreds of pages again is no use.
 * @param page where an address from outside begins
 */
export const useGallery = (shelf: Shelf, page: number) => {
  const { token } = useAuth();
  const client = useQueryClient();
  const gone = useDeletedImages();
  const enabled = shelf.kind !== 'private' || token !== '';
  const key = JSON.stringify(shelf);
  // As the list grows the address follows; what it was begun with stays.
  const [begun, setBegun] = useState({ key, page });
  if (begun.key !== key) setBegun({ key, page });
  const first = begun.key === key ? begun.page : page;
  const all = useInfiniteQuery({
    queryKey: ['gallery', key, token === ''],
    queryFn: ({ pageParam, signal }) => read(shelf, pageParam, signal),
    initialPageParam: first,
    getNextPageParam: nextPage,
    getPreviousPageParam: (head) => (head.page > 1 ? head.page - 1 : undefined),
    staleTime: Infinity,
    refetchOnReconnect: false,
    meta: { steady: true },
    enabled,
  });
  const known = all.data?.pages;
  const fromHead = known?.[0]?.page === 1;
  const head = useQuery({
    queryKey: ['gallery-head', key, token === ''],
    queryFn: ({ signal }) => read(shelf, 1, signal),
    enabled: enabled && all.isSuccess && fromHead,
  }).data?.list;
  const images = useMemo(() => {
    const found = new Map<number, GalleryImage>();
    const newest = new Map((head ?? none).map((image) => [image.id, image]));
    for (const list of [head ?? none, ...(known ?? []).map((each) => each.list)])
      // Pages move on when something new comes before them: each image is shown once.
      for (const image of list)
        if (!found.has(image.id) && !gone.has(image.id))
          found.set(image.id, { ...(newest.get(image.id) ?? image), ...sizeOf(image.size) });
    return [...found.values()];
  }, [head, known, gone]);
  // So much is new that between it and what was read something may be missing.
  const begin = known?.[0]?.list;
  const apart =
    fromHead &&
    head !== undefined &&
    begin !== undefined &&
    begin.length > 0 &&
    !head.some(({ id }) => id === begin[0]?.id || gone.has(begin[0]?.id ?? 0));
  useEffect(() => {
    if (apart) void client.resetQueries({ queryKey: ['gallery', key] });
  }, [apart, client, key]);
  const last = known?.at(-1);
  return {
    all,
    images,
    enabled,
    read: last?.page ?? first,
    total: fromHead ? Math.max((last?.total ?? 0) - gone.size, images.length) : images.length,
  };
};
