import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { privateSearch, publicSearch, exploreSearch } from './gallery-search.ts';

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
