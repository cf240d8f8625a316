import { lazyPart } from '#src/platform/lazy-chunk.ts';
import type { PhotoViewerProps } from './photo-viewer-props.ts';

const PhotoViewerView = lazyPart(() => import('./photo-viewer-view.tsx'));

/** Images over the whole screen: pinch, double tap, swipe. Put it on the page while it is open. */
export const PhotoViewer = (props: PhotoViewerProps) => <PhotoViewerView {...props} />;
