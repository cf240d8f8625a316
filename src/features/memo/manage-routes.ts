import { managerRoute } from '@/platform/manager-route.ts';
import { whole } from '@/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const manageMemoRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'memo',
    validateSearch: (raw) => ({ page: whole(raw, 'page') }),
    component: lazyRouteComponent(() => import('./manage-memos.tsx'), 'ManageMemos'),
  }),
] as const;
