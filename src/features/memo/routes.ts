import { root } from '@/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const memoRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/memo',
    component: lazyRouteComponent(() => import('./memo-screen.tsx'), 'MemoScreen'),
  }),
] as const;
