import { manageAccountRoutes } from '@/features/account/manage-routes.ts';
import { manageForumRoutes } from '@/features/forum/manage-routes.ts';
import { manageMarketRoutes } from '@/features/market/manage-routes.ts';
import { manageModelRoutes } from '@/features/model/manage-routes.ts';
import { manageNoticeRoutes } from '@/features/notice/manage-routes.ts';
import { manageOrderRoutes } from '@/features/payment/manage-routes.ts';
import { managePromptRoutes } from '@/features/prompt/manage-routes.ts';
import { manageScenarioRoutes } from '@/features/scenario/manage-routes.ts';
import { manageSessionRoutes } from '@/features/session/manage-routes.ts';
import { statsRoutes } from '@/features/stats/routes.ts';
import { manageTrainRoutes } from '@/features/train/manage-routes.ts';
import { managerRoute, marketManagerRoute } from '@/platform/manager-route.ts';
import { lazyRouteComponent } from '@tanstack/react-router';

const shell = lazyRouteComponent(() => import('./manager-shell.tsx'), 'ManagerShell');

export const marketManagerRoutes = marketManagerRoute
  .update({ component: shell })
  .addChildren(manageMarketRoutes);

/** The administration: its shell, and the screens of all areas in it. */
export const managerRoutes = managerRoute
  .update({ component: shell })
  .addChildren([
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
  ]);
