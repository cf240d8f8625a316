import { sizesOf } from '#contract/image-size.ts';
import type { ImageModel } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import { toast } from '#src/platform/toast.ts';
import { changeImageDraft, readImageDraft } from './image-draft.ts';
import type { PickedImage } from './picked-image.ts';
import { openImageTool } from './image-tool-store.ts';

/** Only a model with a list of its own asks for one of its sizes; Midjourney goes by the aspect. */
const listedSizes = (image: ImageModel) =>
  image.sizes.length > 0 && image.family !== 'midjourney' ? sizesOf(image) : null;

/** Whether an image has to be brought to one of the model's sizes before it can be a base. */
export const isMisfit = (image: ImageModel, { width, height }: PickedImage): boolean =>
  width > 0 &&
  (listedSizes(image)?.every((size) => size.width !== width || size.height !== height) ?? false);

/**
 * Makes an image the base of what a box asks for next. One that the model cannot take as it is
 * opens the tool to be cropped; then it gives false.
 * @param key of the box, as of its draft
 */
export const takeAsBase = (key: string, model: Model, image: PickedImage): boolean => {
  const { image: takes } = model;
  if (!takes) return false;
  const alone = takes.family === 'sd3';
  if (alone && (readImageDraft(key).n ?? takes.default_count) > 1)
    toast('用参考图时这个模型一次只画 1 张，张数已改为 1', 'info');
  const same = listedSizes(takes)?.find(
    ({ width, height }) => width === image.width && height === image.height,
  );
  changeImageDraft(key, {
    base_image: image.url,
    ...(alone ? { n: 1 } : {}),
    ...(same ? { size: same.code } : {}),
  });
  if (!isMisfit(takes, image)) return true;
  openImageTool({ key, model: model.name, tab: 'img2img', crop: image });
  return false;
};

/** The pixels of an image that may come from anywhere; rejects where it can not be read. */
export const measureImage = (url: string): Promise<PickedImage> =>
  new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener('load', () =>
      resolve({ url, width: image.naturalWidth, height: image.naturalHeight }),
    );
    image.addEventListener('error', () => reject(new Error('the image can not be read')));
    image.src = url;
  });
