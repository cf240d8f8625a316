import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { accountSearch } from './account-search.ts';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/account',
    validateSearch: accountSearch,
    component: lazyRouteComponent(() => import('./account-screen.tsx'), 'AccountScreen'),
  }),
] as const;
