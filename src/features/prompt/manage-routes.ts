import { managerRoute } from '@/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '@/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const type = oneOf(['0', '1']);

export const managePromptRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'prompt',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      query: words(raw, 'query', 100),
      type: type(raw, 'type'),
    })),
    component: lazyRouteComponent(() => import('./manage-prompt-screen.tsx'), 'ManagePromptScreen'),
  }),
] as const;
