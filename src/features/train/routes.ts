import { root } from '#src/platform/root-route.ts';
import { whole, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { trainSearch } from './train-search.ts';

export const trainRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/train',
    validateSearch: trainSearch,
    component: lazyRouteComponent(() => import('./train-screen.tsx'), 'TrainScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/translate',
    validateSearch: trainSearch,
    component: lazyRouteComponent(() => import('./train-screen.tsx'), 'TranslateScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/train/passage',
    validateSearch: (raw: RawSearch) => ({ id: whole(raw, 'id') }),
    component: lazyRouteComponent(() => import('./passage-screen.tsx'), 'PassageScreen'),
  }),
] as const;
