import type { ReactNode } from 'react';
import type { IconName } from './icon.tsx';

/** Something else that can be done with the image in sight. */
export interface PhotoAct {
  icon: IconName;
  label: string;
  /** Given its number; the viewer is closed by then. */
  run: (at: number) => void;
}

export interface PhotoViewerProps {
  /** Addresses of the images, in full size. */
  images: readonly string[];
  /** Smaller ones of an image, best first: without a network one of them may be there. */
  smallerOf?: (image: string) => readonly string[];
  /** The one to begin with. */
  index: number;
  /** What all or each of them were painted from; can be copied there. Empty or absent: nothing. */
  words?: string | readonly string[];
  acts?: readonly PhotoAct[];
  /** What stands in a corner of an image, such as that a model made it. */
  mark?: (image: string) => ReactNode;
  /** Called once it has closed, by a swipe, the back button, Escape or its ✕. */
  onClose: () => void;
}
