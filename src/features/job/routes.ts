import { root } from '#src/platform/root-route.ts';
import { oneOf, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface TasksSearch {
  /** Which are shown; all where it is left out. */
  state?: 'running' | 'done' | 'failed';
}
const state = oneOf(['running', 'done', 'failed']);
const tasksSearch = (raw: RawSearch): TasksSearch => ({ state: state(raw, 'state') });

export const jobRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/tasks',
    validateSearch: tasksSearch,
    component: lazyRouteComponent(() => import('./tasks-screen.tsx'), 'TasksScreen'),
  }),
] as const;
