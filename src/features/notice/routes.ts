import { root } from '#src/platform/root-route.ts';
import { whole, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface NoticeSearch {
  page?: number;
}
export const noticeSearch = (raw: RawSearch): NoticeSearch => ({ page: whole(raw, 'page') });

export const noticeRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/notice',
    validateSearch: noticeSearch,
    component: lazyRouteComponent(() => import('./notice-screen.tsx'), 'NoticeScreen'),
  }),
] as const;
