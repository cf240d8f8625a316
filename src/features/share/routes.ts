import { root } from '#src/platform/root-route.ts';
import { whole, words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface ShareSearch {
  key?: string;
  /** Where reading begins. */
  page?: number;
}
export const shareSearch = (raw: RawSearch): ShareSearch => ({
  key: words(raw, 'key', 64),
  page: whole(raw, 'page'),
});

export const shareRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/share',
    validateSearch: shareSearch,
    component: lazyRouteComponent(() => import('./share-screen.tsx'), 'ShareScreen'),
  }),
] as const;
