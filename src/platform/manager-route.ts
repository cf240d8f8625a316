import { createRoute } from '@tanstack/react-router';
import { root } from './root-route.ts';

/** Around every screen of the administration; its shell is put into it by the app (src/app/routes.tsx). */
export const managerRoute = createRoute({ getParentRoute: () => root, path: '/manager' });

/** The same around the market's screens for managers. */
export const marketManagerRoute = createRoute({
  getParentRoute: () => root,
  path: '/market/manager',
});
