import { root } from '#src/platform/root-route.ts';
import { words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface CashierSearch {
  /** The right to pay an order of the sandbox. */
  key?: string;
}
export const cashierSearch = (raw: RawSearch): CashierSearch => ({ key: words(raw, 'key', 64) });

export const paymentRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/subscribe',
    component: lazyRouteComponent(() => import('./subscribe-screen.tsx'), 'SubscribeScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/wechat',
    component: lazyRouteComponent(() => import('./wechat-screen.tsx'), 'WechatScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/cashier',
    validateSearch: cashierSearch,
    component: lazyRouteComponent(() => import('./cashier-screen.tsx'), 'CashierScreen'),
  }),
] as const;
