import { managerRoute } from '#src/platform/manager-route.ts';
import { loose, oneOf, whole, words } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

const tab = oneOf(['orders', 'invoices', 'differences']);
const type = oneOf(['all', 'paid', 'refund', 'gifted', 'wechat', 'alipay', 'sandbox']);

/** Orders, invoices and what bills say differently, for managers. */
export const manageOrderRoutes = [
  createRoute({
    getParentRoute: () => managerRoute,
    path: 'order',
    validateSearch: loose((raw) => ({
      tab: tab(raw, 'tab'),
      page: whole(raw, 'page'),
      sort: words(raw, 'sort', 40),
      user_id: whole(raw, 'user_id'),
      order_id: words(raw, 'order_id', 64),
      type: type(raw, 'type'),
      range: words(raw, 'range', 4),
      start: words(raw, 'start', 40),
      end: words(raw, 'end', 40),
    })),
    component: lazyRouteComponent(() => import('./manage-order-screen.tsx'), 'ManageOrderScreen'),
  }),
] as const;
