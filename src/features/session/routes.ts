import { root } from '#src/platform/root-route.ts';
import { on, oneOf, place, whole, words, type RawSearch } from '#src/platform/search.ts';
import type { Channel } from '#contract/session.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';

const channels: readonly Channel[] = ['public', 'private', 'favorites'];

export interface HomeSearch {
  channel?: Channel;
  page?: number;
  user_id?: number;
  model?: string;
  query?: string;
  scenario_id?: number;
  /** 1: the new-session box gets the focus. */
  new?: 1;
  /** Of the new-session area; chat when left out. */
  tab?: 'free' | 'imagine';
  /** A session is made that asks this knowledge base. */
  embedding?: string;
  /** What another app shared waits to be taken (src/app/phone.tsx); 0: it was lost. */
  shared?: '0' | '1';
}
export const homeSearch = (raw: RawSearch): HomeSearch => ({
  channel: oneOf(channels)(raw, 'channel'),
  page: whole(raw, 'page'),
  user_id: whole(raw, 'user_id'),
  model: words(raw, 'model', 100),
  query: words(raw, 'query'),
  scenario_id: whole(raw, 'scenario_id'),
  new: on(raw, 'new'),
  tab: raw['tab'] === 'free' || raw['tab'] === 'imagine' ? raw['tab'] : undefined,
  embedding: words(raw, 'embedding', 64),
  shared: raw['shared'] === '1' || raw['shared'] === '0' ? raw['shared'] : undefined,
});

export interface RedirectSearch {
  to?: string;
  embedding?: string;
  /** 1: the session that is made is opened. */
  open?: 1;
}
export const redirectSearch = (raw: RawSearch): RedirectSearch => ({
  to: place(raw, 'to'),
  embedding: words(raw, 'embedding', 64),
  open: on(raw, 'open'),
});

/** `?embedding=KEY` leads by way of the helper screen, which makes the session. */
const startFromKnowledge = ({ embedding }: { embedding?: string | undefined }) => {
  if (embedding !== undefined)
    throw redirect({ to: '/redirect', search: { embedding }, replace: true });
};

export const loadHome = () => import('./home-screen.tsx');

export const sessionRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: homeSearch,
    beforeLoad: ({ search }) => startFromKnowledge(search),
    component: lazyRouteComponent(loadHome, 'HomeScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/redirect',
    validateSearch: redirectSearch,
    beforeLoad: ({ search }) => {
      if (search.embedding === undefined) throw redirect({ href: search.to ?? '/', replace: true });
    },
    component: lazyRouteComponent(() => import('./redirect-screen.tsx'), 'RedirectScreen'),
  }),
] as const;
