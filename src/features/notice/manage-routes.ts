import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const manageNoticeRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'notice',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      query: words(raw, 'query'),
    })),
    component: lazyRouteComponent(() => import('./manage-notice-screen.tsx'), 'ManageNoticeScreen'),
  }),
] as const;
