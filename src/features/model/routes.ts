import { root } from '@/platform/root-route.ts';
import { oneOf, type RawSearch } from '@/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export const modelKinds = ['chat', 'image', 'video', 'speech', 'hearing', 'free'] as const;
export type ModelKind = (typeof modelKinds)[number];

export interface ModelSearch {
  /** What is shown; all when left out. */
  kind?: ModelKind;
}
export const modelSearch = (raw: RawSearch): ModelSearch => ({
  kind: oneOf(modelKinds)(raw, 'kind'),
});

export const modelRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/model',
    validateSearch: modelSearch,
    component: lazyRouteComponent(() => import('./model-screen.tsx'), 'ModelScreen'),
  }),
] as const;
