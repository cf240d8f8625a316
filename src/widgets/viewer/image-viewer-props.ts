/** An image as the viewer is given it; the rest it reads itself. */
export interface ViewedImage {
  id: number;
  url: string;
  /** Pixels. */
  width: number;
  height: number;
}

export interface ViewedTile {
  rect: DOMRect;
  src: string;
}

export interface ImageViewerProps {
  images: readonly ViewedImage[];
  /** The one that is shown. */
  at: number;
  onTurn: (at: number) => void;
  onClose: () => void;
  /** As the web gallery shows it: to look at, and to go on from. */
  explore?: boolean;
  /** Its tile, from which it grows: where that stands and which small image it shows. */
  from?: ViewedTile | null;
  /** Goes on from it where the viewer was opened, instead of in a new session. */
  onBase?: ((image: ViewedImage) => void) | undefined;
}
