import type PDFKit from 'pdfkit';

/** Before a diagram's source, where images are asked for by their addresses. */
export const diagramAddress = 'mermaid:';
/** Pixels of a drawing for each that it is wide. */
const drawnAt = 2;

export interface Image {
  /** Points, at 96 pixels an inch. */
  width: number;
  height: number;
  image: unknown;
}

interface Opened {
  width: number;
  height: number;
}

/**
 * The images of a document. `fetch` gives a JPEG, or null where the image cannot be had; each
 * address is asked for once, and in vain once.
 */
export const createImages = (
  document: PDFKit.PDFDocument,
  fetch: (address: string) => Promise<Uint8Array | null>,
) => {
  const known = new Map<string, Image | null>();
  return {
    /** Fetches what is not here yet, so that `get` has it. */
    async load(addresses: readonly string[]): Promise<void> {
      const wanted = [...new Set(addresses)].filter((address) => !known.has(address));
      await Promise.all(
        wanted.map(async (address) => {
          const data = await fetch(address);
          let loaded: Image | null = null;
          try {
            if (data) {
              // The types leave out that PDFKit opens images apart from drawing them.
              const image = (
                document as unknown as { openImage: (data: Buffer) => Opened }
              ).openImage(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
              const size = address.startsWith(diagramAddress) ? 0.75 / drawnAt : 0.75;
              loaded = { width: image.width * size, height: image.height * size, image };
            }
          } catch {
            // What is no image after all counts as not there.
          }
          known.set(address, loaded);
        }),
      );
    },
    get: (address: string): Image | null => known.get(address) ?? null,
    draw: (image: Image, x: number, y: number, width: number, height: number) => {
      document.image(image.image as Buffer, x, y, { width, height });
    },
    /** Addresses of those that could not be had. */
    failed: (): string[] =>
      [...known]
        .filter(([address, image]) => image === null && !address.startsWith(diagramAddress))
        .map(([address]) => (address.startsWith('data:') ? '内嵌图片' : address)),
  };
};

export type Images = ReturnType<typeof createImages>;
