import { lazyChunk } from '#src/platform/lazy-chunk.ts';

const load = lazyChunk(async () =>
  (await import('#src/widgets/markdown/diagram-drawing.ts')).loadDrawing(),
);

/** Pixels for each that a drawing is wide, and most of its longer side. */
const scale = 2;
const longest = 3_000;
/** Of a data URL; the server takes no larger ones. */
const mostText = 1_500_000;

const opened = (url: string): Promise<HTMLImageElement> =>
  new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener('load', () => resolve(image));
    image.addEventListener('error', () => reject(new Error('no image')));
    image.src = url;
  });

/** The pixels of an image of this page as a PNG's data URL. @throws Error where it cannot be read */
export const pixelsOf = async (url: string, width: number, height: number): Promise<string> => {
  const image = await opened(url);
  const canvas = document.createElement('canvas');
  const by = Math.min(scale, longest / Math.max(width, height, 1));
  canvas.width = Math.max(1, Math.round(width * by));
  canvas.height = Math.max(1, Math.round(height * by));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/png');
};

export interface DrawnDiagram {
  source: string;
  /** A data URL. */
  image: string;
}

/** Draws diagrams for a white page; one that cannot be drawn is left out. */
export const drawDiagrams = async (sources: readonly string[]): Promise<DrawnDiagram[]> => {
  const drawn: DrawnDiagram[] = [];
  const draw = await load();
  for (const source of sources) {
    try {
      const { url, width, height } = await draw(source, false);
      try {
        const image = await pixelsOf(url, width, height);
        if (image.length <= mostText) drawn.push({ source, image });
      } finally {
        URL.revokeObjectURL(url);
      }
    } catch {
      // Its source stands in the file instead.
    }
  }
  return drawn;
};
