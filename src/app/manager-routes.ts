import { manageAccountRoutes } from '#src/features/account/manage-routes.ts';
import { manageSignInRoutes } from '#src/features/auth/manage-routes.ts';
import { manageComplianceRoutes } from '#src/features/compliance/manage-routes.ts';
import { manageForumRoutes } from '#src/features/forum/manage-routes.ts';
import { manageMarketRoutes } from '#src/features/market/manage-routes.ts';
import { manageModelRoutes } from '#src/features/model/manage-routes.ts';
import { manageNoticeRoutes } from '#src/features/notice/manage-routes.ts';
import { manageOrderRoutes } from '#src/features/payment/manage-routes.ts';
import { managePromptRoutes } from '#src/features/prompt/manage-routes.ts';
import { manageScenarioRoutes } from '#src/features/scenario/manage-routes.ts';
import { manageSessionRoutes } from '#src/features/session/manage-routes.ts';
import { statsRoutes } from '#src/features/stats/manage-routes.ts';
import { manageTrainRoutes } from '#src/features/train/manage-routes.ts';
import { managerRoute, marketManagerRoute } from '#src/platform/manager-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const setup = createRoute({
  getParentRoute: () => managerRoute,
  path: 'setup',
  component: lazyRouteComponent(() => import('./setup-screen.tsx'), 'SetupScreen'),
});

const shell = lazyRouteComponent(() => import('./manager-shell.tsx'), 'ManagerShell');

export const marketManagerRoutes = marketManagerRoute
  .update({ component: shell })
  .addChildren(manageMarketRoutes);

/** The administration: its shell, and the screens of all areas in it. */
export const managerRoutes = managerRoute
  .update({ component: shell })
  .addChildren([
    setup,
    ...statsRoutes,
    ...manageSessionRoutes,
    ...manageAccountRoutes,
    ...manageModelRoutes,
    ...manageNoticeRoutes,
    ...manageOrderRoutes,
    ...manageScenarioRoutes,
    ...managePromptRoutes,
    ...manageForumRoutes,
    ...manageTrainRoutes,
    ...manageComplianceRoutes,
    ...manageSignInRoutes,
  ]);
