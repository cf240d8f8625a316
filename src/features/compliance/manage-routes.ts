import { managerRoute } from '#src/platform/manager-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** What the law asks of whoever runs this, for managers. */
export const manageComplianceRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'compliance',
    component: lazyRouteComponent(() => import('./compliance-screen.tsx'), 'ComplianceScreen'),
  }),
] as const;
