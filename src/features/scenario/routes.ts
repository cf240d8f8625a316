import { root } from '#src/platform/root-route.ts';
import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface ScenarioSearch {
  /** Number of a category. */
  category?: number;
  query?: string;
  page?: number;
  /** mine: one's own; pending: what waits for a manager. */
  scope?: 'mine' | 'pending';
  /** Left out: the most used first. */
  sort?: 'new';
}
export const scenarioSearch = (raw: RawSearch): ScenarioSearch => ({
  category: whole(raw, 'category'),
  query: words(raw, 'query', 100),
  page: whole(raw, 'page'),
  scope: oneOf(['mine', 'pending'])(raw, 'scope'),
  sort: oneOf(['new'])(raw, 'sort'),
});

export const scenarioRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/scenario',
    validateSearch: scenarioSearch,
    component: lazyRouteComponent(() => import('./scenario-screen.tsx'), 'ScenarioScreen'),
  }),
] as const;
