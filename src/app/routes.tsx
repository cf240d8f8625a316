import { accountRoutes } from '@/features/account/routes.ts';
import { authRoutes } from '@/features/auth/routes.ts';
import { chatRoutes } from '@/features/chat/routes.ts';
import { developerRoutes } from '@/features/developer/routes.ts';
import { forumRoutes } from '@/features/forum/routes.ts';
import { imageRoutes } from '@/features/gallery/routes.ts';
import { helpRoutes } from '@/features/help/routes.ts';
import { jobRoutes } from '@/features/job/routes.ts';
import { marketRoutes } from '@/features/market/routes.ts';
import { noticeRoutes } from '@/features/notice/routes.ts';
import { paymentRoutes } from '@/features/payment/routes.ts';
import { modelRoutes } from '@/features/model/routes.ts';
import { scenarioRoutes } from '@/features/scenario/routes.ts';
import { sessionRoutes } from '@/features/session/routes.ts';
import { shareRoutes } from '@/features/share/routes.ts';
import { trainRoutes } from '@/features/train/routes.ts';
import { videoRoutes } from '@/features/video/routes.ts';
import { root } from '@/platform/root-route.ts';
import { parseSearch, stringifySearch } from '@/platform/search.ts';
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
