import { root } from '@/platform/root-route.ts';
import { oneOf, whole, words, type RawSearch } from '@/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface TrainSearch {
  tab?: 'public' | 'private';
  query?: string;
  page?: number;
  /** The project that is shown, or that is being made. */
  model_id?: number;
  /** The steps of a new project are open. */
  new?: number;
  /** Which of them; 1 where it is not said. */
  step?: number;
}
const tab = oneOf(['public', 'private'] as const);
const trainSearch = (raw: RawSearch): TrainSearch => ({
  tab: tab(raw, 'tab'),
  query: words(raw, 'query', 100),
  page: whole(raw, 'page'),
  model_id: whole(raw, 'model_id'),
  new: whole(raw, 'new'),
  step: whole(raw, 'step'),
});

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
