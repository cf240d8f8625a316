/** A picture that was chosen; its address can be given to the server. */
export interface PickedImage {
  url: string;
  /** Pixels. */
  width: number;
  height: number;
}

/**
 * Lets the person choose pictures: uploaded ones, painted ones, or new ones by file, camera, paste
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
