import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const toolRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/tools',
    component: lazyRouteComponent(() => import('./tool-servers-screen.tsx'), 'ToolServersScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tools/authorized',
    validateSearch: (search): { code?: string; state?: string } => ({
      ...(typeof search['code'] === 'string' && { code: search['code'] }),
      ...(typeof search['state'] === 'string' && { state: search['state'] }),
    }),
    component: lazyRouteComponent(() => import('./authorized-screen.tsx'), 'AuthorizedScreen'),
  }),
] as const;
