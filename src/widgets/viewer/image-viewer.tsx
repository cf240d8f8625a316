import type { ImageViewerProps, ViewedTile } from './image-viewer-props.ts';
import { lazyAsked, lazyChunk } from '#src/platform/lazy-chunk.ts';

const load = lazyChunk(() => import('./image-viewer-view.tsx'));
const View = lazyAsked(load);

/** Loads the viewer beforehand, so that it opens at once. */
export const warmViewer = (): void => {
  load().catch(() => undefined);
};

/** The tile that a press on this element opens. */
export const tileOf = (element: HTMLElement): ViewedTile => ({
  rect: element.getBoundingClientRect(),
  src: element.querySelector('img')?.currentSrc ?? '',
});

/** Images over the whole screen with what is known of them and what can be made of them. */
export const ImageViewer = (props: ImageViewerProps) => <View {...props} />;
