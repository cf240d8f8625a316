import { Sheet } from '#src/ui/sheet.tsx';
import type { ImageParameters, MadeImage } from '#contract/image.ts';
import type { ReactNode } from 'react';

/** What a sheet that asks how to go on from an image is given. */
export interface ImageSheetProps {
  /** Null: closed. */
  image: MadeImage | null;
  /** What it takes; empty: nothing. */
  price?: string;
  onClose: () => void;
  onDraw: (image: MadeImage, parameters: ImageParameters) => void;
}

/** Asks how to go on from an image; closes when that is said. */
export const ImageSheet = ({
  title,
  image,
  onClose,
  onDraw,
  children,
}: ImageSheetProps & {
  title: string;
  children: (image: MadeImage, draw: (parameters: ImageParameters) => void) => ReactNode;
}) => (
  <Sheet open={image !== null} onClose={onClose} title={title}>
    {image &&
      children(image, (parameters) => {
        onClose();
        onDraw(image, parameters);
      })}
  </Sheet>
);
