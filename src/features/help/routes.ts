import { root } from '#src/platform/root-route.ts';
import { whole, words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface HelpSearch {
  page?: string;
  /** Of the page: it alone is shown. */
  section?: string;
  /** Of an error: its page is shown. */
  code?: number;
  query?: string;
}
export const helpSearch = (raw: RawSearch): HelpSearch => ({
  page: words(raw, 'page', 64),
  section: words(raw, 'section', 100),
  code: whole(raw, 'code'),
  query: words(raw, 'query'),
});

export const helpRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/help',
    validateSearch: helpSearch,
    component: lazyRouteComponent(() => import('./help-screen.tsx'), 'HelpScreen'),
  }),
] as const;
