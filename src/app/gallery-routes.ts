import { root } from '#src/platform/root-route.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** The parts of src/ui to look at in all themes; in development alone, and in no build. */
export const galleryRoutes = import.meta.env.DEV
  ? ([
      createRoute({
        getParentRoute: () => root,
        path: '/_ui',
        component: lazyRouteComponent(() => import('./gallery-screen.tsx'), 'GalleryScreen'),
      }),
    ] as const)
  : ([] as const);
