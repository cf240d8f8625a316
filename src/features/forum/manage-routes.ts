import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const tab = oneOf(['reports', 'groups', 'words']);
const state = oneOf(['done']);

/** Reports and groups of the forum, for managers. */
export const manageForumRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'forum',
    validateSearch: loose((raw) => ({
      tab: tab(raw, 'tab'),
      state: state(raw, 'state'),
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      query: words(raw, 'query', 40),
    })),
    component: lazyRouteComponent(() => import('./manage-forum-screen.tsx'), 'ManageForumScreen'),
  }),
] as const;
