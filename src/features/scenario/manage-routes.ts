import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const scope = oneOf(['all', 'public', 'pending']);

export const manageScenarioRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'scenario',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      category: words(raw, 'category', 16),
      scope: scope(raw, 'scope'),
    })),
    component: lazyRouteComponent(
      () => import('./manage-scenario-screen.tsx'),
      'ManageScenarioScreen',
    ),
  }),
] as const;
