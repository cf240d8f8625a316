import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { apiSearch } from './developer-search.ts';

export const developerRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/api',
    validateSearch: apiSearch,
    component: lazyRouteComponent(() => import('./api-screen.tsx'), 'ApiScreen'),
  }),
] as const;
