import { root } from '@/platform/root-route.ts';
import { oneOf, whole, words, type RawSearch } from '@/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const accountTabs = [
  'usage',
  'recharge',
  'vip',
  'order',
  'transaction',
  'invite',
  'profile',
  'settings',
] as const;
export type AccountTab = (typeof accountTabs)[number];

export interface AccountSearch {
  tab?: AccountTab;
  /** Of the lists. */
  page?: number;
  /** Of the usage, 2026-11. */
  month?: string;
}
const tab = oneOf(accountTabs);
export const accountSearch = (raw: RawSearch): AccountSearch => ({
  tab: tab(raw, 'tab'),
  page: whole(raw, 'page'),
  month: words(raw, 'month', 7),
});

export const accountRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/account',
    validateSearch: accountSearch,
    component: lazyRouteComponent(() => import('./account-screen.tsx'), 'AccountScreen'),
  }),
] as const;
