import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { modelSearch } from './model-search.ts';

export const modelRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/model',
    validateSearch: modelSearch,
    component: lazyRouteComponent(() => import('./model-screen.tsx'), 'ModelScreen'),
  }),
] as const;
