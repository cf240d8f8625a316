import type { PhotoViewerProps } from './photo-viewer-props.ts';
import { lazy, Suspense } from 'react';

const PhotoViewerView = lazy(() => import('./photo-viewer-view.tsx'));

/** Images over the whole screen: pinch, double tap, swipe. Put it on the page while it is open. */
export const PhotoViewer = (props: PhotoViewerProps) => (
  <Suspense fallback={null}>
    <PhotoViewerView {...props} />
  </Suspense>
);
