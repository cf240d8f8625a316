import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';

const chartRange = oneOf(['1h', '3h', '12h', '1d', '1w', '1m', '3m']);
const period = oneOf(['day', 'three_day', 'week', 'month', 'list']);

const child = () => managerRoute;

/** What the service counted, who did what, and how it does. */
export const statsRoutes = [
  createRoute({
    getParentRoute: child,
    path: '/',
    beforeLoad: () => redirect({ to: '/manager/session', replace: true, throw: true }),
  }),
  createRoute({
    getParentRoute: child,
    path: 'default',
    component: lazyRouteComponent(() => import('./manage-home-screen.tsx'), 'ManageHomeScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'summary',
    component: lazyRouteComponent(() => import('./summary-screen.tsx'), 'SummaryScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'chart',
    validateSearch: loose((raw) => ({ range: chartRange(raw, 'range') })),
    component: lazyRouteComponent(() => import('./chart-screen.tsx'), 'ChartScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'ranking',
    validateSearch: loose((raw) => ({ period: period(raw, 'period') })),
    component: lazyRouteComponent(() => import('./ranking-screen.tsx'), 'RankingScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'model_stats',
    validateSearch: loose((raw) => ({
      range: words(raw, 'range', 4),
      start_date: words(raw, 'start_date', 40),
      end_date: words(raw, 'end_date', 40),
    })),
    component: lazyRouteComponent(() => import('./model-stats-screen.tsx'), 'ModelStatsScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'log',
    validateSearch: loose((raw) => ({
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      user_id: whole(raw, 'user_id'),
      call: words(raw, 'call', 60),
      subject: words(raw, 'subject', 60),
    })),
    component: lazyRouteComponent(() => import('./acts-screen.tsx'), 'ActsScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'state',
    component: lazyRouteComponent(() => import('./state-screen.tsx'), 'StateScreen'),
  }),
  createRoute({
    getParentRoute: child,
    path: 'security',
    component: lazyRouteComponent(() => import('./security-screen.tsx'), 'SecurityScreen'),
  }),
] as const;
