import { mostPixels, openImage } from '#server/open-image.ts';
import { measure } from '../image-pixels.ts';

/** The four quarters of a grid, in reading order, as PNG; null: it is no image to be cut. */
export const quartersOf = async (grid: Buffer): Promise<Buffer[] | null> => {
  const size = await measure(grid);
  if (!size || size.width < 2 || size.height < 2) return null;
  const width = Math.floor(size.width / 2);
  const height = Math.floor(size.height / 2);
  const quarters: Buffer[] = [];
  for (const top of [0, size.height - height])
    for (const left of [0, size.width - width])
      quarters.push(
        await (
          await openImage(grid, { pixels: mostPixels.service })
        ).image
          .extract({ left, top, width, height })
          .png({ compressionLevel: 4 })
          .toBuffer(),
      );
  return quarters;
};
