import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const tab = oneOf(['services', 'models', 'groups', 'local']);

/** Models and the services that have them, for managers. */
export const manageModelRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'model',
    validateSearch: loose((raw) => ({
      tab: tab(raw, 'tab'),
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      user_id: whole(raw, 'user_id'),
      name: words(raw, 'name', 100),
      unique_key: words(raw, 'unique_key', 100),
      type: words(raw, 'type', 3),
    })),
    component: lazyRouteComponent(() => import('./manage-model-screen.tsx'), 'ManageModelScreen'),
  }),
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'start',
    component: lazyRouteComponent(() => import('./start-screen.tsx'), 'StartScreen'),
  }),
] as const;
