import { root } from '#src/platform/root-route.ts';
import { words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';

export interface ErrorSearch {
  code?: string;
  message?: string;
  /** The session to go back to. */
  uuid?: string;
}
export const errorSearch = (raw: RawSearch): ErrorSearch => ({
  code: words(raw, 'code', 64),
  message: words(raw, 'message', 500),
  uuid: words(raw, 'uuid', 36),
});

export const errorRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/error',
    validateSearch: errorSearch,
    component: lazyRouteComponent(() => import('./error-screen.tsx'), 'ErrorScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/404',
    component: lazyRouteComponent(() => import('./missing-screen.tsx'), 'MissingScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '$',
    beforeLoad: () => {
      throw redirect({ to: '/404', replace: true });
    },
  }),
] as const;
