import { Sheet } from '@/ui/sheet.tsx';
import type { ImageParameters, MadeImage } from '@contract/image.ts';
import type { ReactNode } from 'react';

/** What a sheet that asks how to go on from a picture is given. */
export interface ImageSheetProps {
  /** Null: closed. */
  picture: MadeImage | null;
  /** What it takes; empty: nothing. */
  price?: string;
  onClose: () => void;
  onDraw: (picture: MadeImage, parameters: ImageParameters) => void;
}

/** Asks how to go on from a picture; closes when that is said. */
export const ImageSheet = ({
  title,
  picture,
  onClose,
  onDraw,
  children,
}: ImageSheetProps & {
  title: string;
  children: (picture: MadeImage, draw: (parameters: ImageParameters) => void) => ReactNode;
}) => (
  <Sheet open={picture !== null} onClose={onClose} title={title}>
    {picture &&
      children(picture, (parameters) => {
        onClose();
        onDraw(picture, parameters);
      })}
  </Sheet>
);
