import { root } from '#src/platform/root-route.ts';
import { on, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface VideoSearch {
  /** 1: one's own; else those of public sessions. */
  private?: 1;
}
export const videoSearch = (raw: RawSearch): VideoSearch => ({ private: on(raw, 'private') });

export const videoRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/video',
    validateSearch: videoSearch,
    component: lazyRouteComponent(() => import('./video-screen.tsx'), 'VideoScreen'),
  }),
] as const;
