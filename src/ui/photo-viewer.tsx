import { lazyPart } from '#src/platform/lazy-chunk.ts';
import type { PhotoViewerProps } from './photo-viewer-props.ts';
import { Suspense } from 'react';

const PhotoViewerView = lazyPart(() => import('./photo-viewer-view.tsx'));

/** Images over the whole screen: pinch, double tap, swipe. Put it on the page while it is open. */
export const PhotoViewer = (props: PhotoViewerProps) => (
  <Suspense fallback={null}>
    <PhotoViewerView {...props} />
  </Suspense>
);
