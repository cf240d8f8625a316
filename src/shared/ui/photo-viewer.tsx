import { lazy, Suspense } from 'react';

export interface PhotoViewerProps {
  /** Addresses of the pictures, in full size. */
  images: readonly string[];
  /** The one to begin with. */
  index: number;
  /** What they were painted from; can be copied there. Empty or absent: nothing. */
  words?: string;
  /** Called once it has closed, by a swipe, the back button, Escape or its ✕. */
  onClose: () => void;
}

const PhotoViewerView = lazy(() => import('./photo-viewer-view.tsx'));

/** Pictures over the whole screen: pinch, double tap, swipe. Put it on the page while it is open. */
export const PhotoViewer = (props: PhotoViewerProps) => (
  <Suspense fallback={null}>
    <PhotoViewerView {...props} />
  </Suspense>
);
