import { root } from '#src/platform/root-route.ts';
import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface AppsSearch {
  type?: string;
  query?: string;
  page?: number;
  /** What one has bought, or has an older version of. */
  mine?: 'bought' | 'outdated';
}
const mine = oneOf(['bought', 'outdated']);

export const marketRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/apps',
    validateSearch: (raw: RawSearch): AppsSearch => ({
      type: words(raw, 'type', 40),
      query: words(raw, 'query', 100),
      page: whole(raw, 'page'),
      mine: mine(raw, 'mine'),
    }),
    component: lazyRouteComponent(() => import('./apps-screen.tsx'), 'AppsScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/apps/details',
    validateSearch: (raw: RawSearch): { appid?: number } => ({ appid: whole(raw, 'appid') }),
    component: lazyRouteComponent(() => import('./app-screen.tsx'), 'AppScreen'),
  }),
] as const;
