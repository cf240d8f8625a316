import type PDFKit from 'pdfkit';

/** Before a diagram's source, where pictures are asked for by their addresses. */
export const diagramAddress = 'mermaid:';
/** Pixels of a drawing for each that it is wide. */
const drawnAt = 2;

export interface Picture {
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
 * The pictures of a document. `fetch` gives a JPEG, or null where the picture cannot be had; each
 * address is asked for once, and in vain once.
 */
export const createPictures = (
  document: PDFKit.PDFDocument,
  fetch: (address: string) => Promise<Uint8Array | null>,
) => {
  const known = new Map<string, Picture | null>();
  return {
    /** Fetches what is not here yet, so that `get` has it. */
    async load(addresses: readonly string[]): Promise<void> {
      const wanted = [...new Set(addresses)].filter((address) => !known.has(address));
      await Promise.all(
        wanted.map(async (address) => {
          const data = await fetch(address);
          let picture: Picture | null = null;
          try {
            if (data) {
              // The types leave out that PDFKit opens pictures apart from drawing them.
              const image = (
                document as unknown as { openImage: (data: Buffer) => Opened }
              ).openImage(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
              const size = address.startsWith(diagramAddress) ? 0.75 / drawnAt : 0.75;
              picture = { width: image.width * size, height: image.height * size, image };
            }
          } catch {
            // What is no picture after all counts as not there.
          }
          known.set(address, picture);
        }),
      );
    },
    get: (address: string): Picture | null => known.get(address) ?? null,
    draw: (picture: Picture, x: number, y: number, width: number, height: number) => {
      document.image(picture.image as Buffer, x, y, { width, height });
    },
    /** Addresses of those that could not be had. */
    failed: (): string[] =>
      [...known]
        .filter(([address, picture]) => picture === null && !address.startsWith(diagramAddress))
        .map(([address]) => (address.startsWith('data:') ? '内嵌图片' : address)),
  };
};

export type Pictures = ReturnType<typeof createPictures>;
