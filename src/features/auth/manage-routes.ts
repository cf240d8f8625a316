import { managerRoute } from '#src/platform/manager-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** How people sign in, for owners. */
export const manageSignInRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'sign_in',
    component: lazyRouteComponent(() => import('./manage-sign-in-screen.tsx'), 'ManageSignIn'),
  }),
] as const;
