import { root } from '#src/platform/root-route.ts';
import { oneOf, whole, words, type RawSearch } from '#src/platform/search.ts';
import type { ForumCategory } from '#contract/forum.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';

const categories: readonly ForumCategory[] = [
  'hot',
  'mine',
  'replied',
  'answered',
  'unanswered',
  'essence',
  'history',
];

export interface ForumSearch {
  /** Named for clients of the specification; the list is the forum's either way. */
  channel?: 'forum';
  category?: ForumCategory;
  group_id?: number;
  model?: string;
  user_id?: number;
  query?: string;
  page?: number;
  /** 1: the dialog for a question is open. */
  'show-create-dialog'?: 1;
}
export const forumSearch = (raw: RawSearch): ForumSearch => ({
  channel: oneOf(['forum'])(raw, 'channel'),
  category: oneOf(categories)(raw, 'category'),
  group_id: whole(raw, 'group_id'),
  model: words(raw, 'model', 100),
  user_id: whole(raw, 'user_id'),
  query: words(raw, 'query'),
  page: whole(raw, 'page'),
  // Whatever it says, also nothing at all.
  'show-create-dialog': raw['show-create-dialog'] === undefined ? undefined : 1,
});

interface NewsSearch {
  page?: number;
}
const newsSearch = (raw: RawSearch): NewsSearch => ({ page: whole(raw, 'page') });

export const forumRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/forum',
    validateSearch: forumSearch,
    component: lazyRouteComponent(() => import('./forum-screen.tsx'), 'ForumScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/forum/news',
    validateSearch: newsSearch,
    component: lazyRouteComponent(() => import('./news-screen.tsx'), 'NewsScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/forum/reports',
    beforeLoad: () => redirect({ to: '/manager/forum', replace: true, throw: true }),
  }),
] as const;
