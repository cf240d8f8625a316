import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const bit = oneOf(['0', '1']);

/** Sessions of everybody, for managers. */
export const manageSessionRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'session',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      user_id: whole(raw, 'user_id'),
      uuid: words(raw, 'uuid', 36),
      query: words(raw, 'query'),
      type: words(raw, 'type', 3),
      private: bit(raw, 'private'),
      deleted: bit(raw, 'deleted'),
      /** The session whose messages are shown. */
      session: whole(raw, 'session'),
    })),
    component: lazyRouteComponent(
      () => import('./manage-session-screen.tsx'),
      'ManageSessionScreen',
    ),
  }),
] as const;
