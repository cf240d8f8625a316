import { root } from '@/platform/root-route.ts';
import { oneOf, whole, words, type RawSearch } from '@/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const ranks = ['upload', 'all', 'month', 'week', 'day'] as const;
const sorts = ['newest', 'most-popular'] as const;

export interface GallerySearch {
  /** Left out: the newest first. `upload`: of one's own those that were uploaded. */
  rank?: (typeof ranks)[number];
  query?: string;
  /** How far the list is read. */
  page?: number;
  /** This picture is open. */
  image_id?: number;
}
export interface ExploreSearch {
  /** Left out: by likes and age. */
  sort?: (typeof sorts)[number];
  page?: number;
  image_id?: number;
}

const rankOf = oneOf(ranks);
const sortOf = oneOf(sorts);
const common = (raw: RawSearch) => ({
  page: whole(raw, 'page'),
  image_id: whole(raw, 'image_id'),
});
const privateSearch = (raw: RawSearch): GallerySearch => ({
  rank: rankOf(raw, 'rank'),
  query: words(raw, 'query'),
  ...common(raw),
});
const publicSearch = (raw: RawSearch): GallerySearch => {
  const search = privateSearch(raw);
  // Uploads are one's own: elsewhere there is no such order.
  return search.rank === 'upload' ? { ...search, rank: undefined } : search;
};
const exploreSearch = (raw: RawSearch): ExploreSearch => ({
  sort: sortOf(raw, 'sort'),
  ...common(raw),
});

const load = () => import('./gallery-screens.tsx');

export const imageRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/image/public',
    validateSearch: publicSearch,
    component: lazyRouteComponent(load, 'PublicScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/image/private',
    validateSearch: privateSearch,
    component: lazyRouteComponent(load, 'PrivateScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/image/explore',
    validateSearch: exploreSearch,
    component: lazyRouteComponent(load, 'ExploreScreen'),
  }),
] as const;
