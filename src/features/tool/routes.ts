import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const toolRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/tools',
    component: lazyRouteComponent(() => import('./tool-servers-screen.tsx'), 'ToolServersScreen'),
  }),
] as const;
