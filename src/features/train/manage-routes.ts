import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** People's projects, for managers. */
export const manageTrainRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'train',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      user_id: whole(raw, 'user_id'),
      unique_key: words(raw, 'unique_key', 64),
      name: words(raw, 'name', 100),
      type: words(raw, 'type', 1),
      status: words(raw, 'status', 1),
    })),
    component: lazyRouteComponent(() => import('./manage-train-screen.tsx'), 'ManageTrainScreen'),
  }),
] as const;
