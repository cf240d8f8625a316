import { accountRoutes } from '#src/features/account/routes.ts';
import { authRoutes } from '#src/features/auth/routes.ts';
import { chatRoutes } from '#src/features/chat/routes.ts';
import { developerRoutes } from '#src/features/developer/routes.ts';
import { forumRoutes } from '#src/features/forum/routes.ts';
import { imageRoutes } from '#src/features/gallery/routes.ts';
import { helpRoutes } from '#src/features/help/routes.ts';
import { jobRoutes } from '#src/features/job/routes.ts';
import { marketRoutes } from '#src/features/market/routes.ts';
import { noticeRoutes } from '#src/features/notice/routes.ts';
import { paymentRoutes } from '#src/features/payment/routes.ts';
import { modelRoutes } from '#src/features/model/routes.ts';
import { scenarioRoutes } from '#src/features/scenario/routes.ts';
import { sessionRoutes } from '#src/features/session/routes.ts';
import { shareRoutes } from '#src/features/share/routes.ts';
import { toolRoutes } from '#src/features/tool/routes.ts';
import { trainRoutes } from '#src/features/train/routes.ts';
import { videoRoutes } from '#src/features/video/routes.ts';
import { root } from '#src/platform/root-route.ts';
import { parseSearch, stringifySearch } from '#src/platform/search.ts';
import { createRouter } from '@tanstack/react-router';
import { errorRoutes } from './error-routes.ts';
import { galleryRoutes } from './gallery-routes.ts';
import { managerRoutes, marketManagerRoutes } from './manager-routes.ts';
import { RouteError } from './route-error.tsx';
import { Shell } from './shell.tsx';

export const router = createRouter({
  routeTree: root
    .update({ component: Shell })
    .addChildren([
      ...sessionRoutes,
      ...chatRoutes,
      ...authRoutes,
      ...accountRoutes,
      ...jobRoutes,
      ...noticeRoutes,
      ...paymentRoutes,
      ...marketRoutes,
      ...imageRoutes,
      ...videoRoutes,
      ...developerRoutes,
      ...forumRoutes,
      ...scenarioRoutes,
      ...modelRoutes,
      ...toolRoutes,
      ...trainRoutes,
      ...helpRoutes,
      ...shareRoutes,
      managerRoutes,
      marketManagerRoutes,
      ...errorRoutes,
      ...galleryRoutes,
    ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: RouteError,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
