import type { PickedImage } from './picked-image.ts';

/**
 * Lets the person choose images: uploaded ones, painted ones, or new ones by file, camera, paste
 * or address. Resolves to none when they close it.
 */
export const pickImages = async (options: {
  max: number;
  /** What they are for. */
  title?: string;
}): Promise<PickedImage[]> => {
  const { openImagePicker } = await import('./image-picker-view.tsx');
  return openImagePicker(options);
};
