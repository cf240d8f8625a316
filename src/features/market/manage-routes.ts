import { marketManagerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';

const state = oneOf(['draft', 'published', 'down']);

/** Apps, for managers. */
export const manageMarketRoutes = [
  createRoute({
    getParentRoute: () => marketManagerRoute,
    path: '/',
    beforeLoad: () => redirect({ to: '/market/manager/apps', replace: true, throw: true }),
  }),
  createRoute({
    getParentRoute: () => marketManagerRoute,
    path: 'apps',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      query: words(raw, 'query', 100),
      state: state(raw, 'state'),
    })),
    component: lazyRouteComponent(() => import('./manage-apps-screen.tsx'), 'ManageAppsScreen'),
  }),
] as const;
