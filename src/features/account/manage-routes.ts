import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const kind = oneOf(['account', 'guest', 'vip', 'subscriber', 'disabled', 'manager']);

/** Everybody's accounts, for managers. */
export const manageAccountRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'user',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      query: words(raw, 'query', 100),
      user_id: whole(raw, 'user_id'),
      kind: kind(raw, 'kind'),
      people_group: whole(raw, 'people_group'),
      /** The person whose page is open. */
      person: whole(raw, 'person'),
    })),
    component: lazyRouteComponent(() => import('./manage-user-screen.tsx'), 'ManageUserScreen'),
  }),
] as const;
