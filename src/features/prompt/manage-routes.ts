import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const tab = oneOf(['templates', 'keywords']);
const type = oneOf(['0', '1', 'quality', 'composition', 'looks', 'effect', 'draw', 'command']);
const state = oneOf(['own', 'changed', 'removed']);

export const managePromptRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'prompt',
    validateSearch: loose((raw) => ({
      tab: tab(raw, 'tab'),
      page: whole(raw, 'page'),
      query: words(raw, 'query', 100),
      type: type(raw, 'type'),
      state: state(raw, 'state'),
    })),
    component: lazyRouteComponent(() => import('./manage-prompt-screen.tsx'), 'ManagePromptScreen'),
  }),
] as const;
