import type { ImageRequest, Message } from '#contract/chat.ts';
import { imagesOf } from '#contract/image-family.ts';
import { readImageWords } from '#contract/image-prompt.ts';
import { imageSizes, pricedSize, sizeFor } from '#contract/image-size.ts';
import type { ImageParameters, ImageTask, MadeImage } from '#contract/image.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import { type ImagePrice, imagePrice } from '#src/widgets/image/image-price.ts';

/** What a message of a session of images asks for. */
export interface Asked {
  type: ImageTask;
  prompt: string;
  image: ImageRequest;
}

const usual: ImageRequest = {
  n: 1,
  size: limits.defaultImageSize,
  translate: 0,
  base_image: '',
  resize_mode: 0,
  parameters: {},
  controlnet_image: '',
  controlnet_module: '',
  controlnet_model: '',
  controlnet_control_mode: 0,
};

const plain = (prompt: string): Asked => ({ type: 'txt2img', prompt, image: usual });

const readAnew = ({ human, format }: Pick<Message, 'human' | 'format'>): Asked => {
  if (format !== 1) return plain(human);
  try {
    const value = JSON.parse(human) as Partial<Asked> | null;
    if (typeof value?.prompt !== 'string') return plain(human);
    return {
      type: value.type ?? 'txt2img',
      prompt: value.prompt,
      image: { ...usual, ...value.image },
    };
  } catch {
    return plain(human);
  }
};

const known = new WeakMap<Message, Asked>();

/** The request in a message; the same object each time for the same message. */
export const readAsked = (message: Message): Asked => {
  let asked = known.get(message);
  if (!asked) {
    asked = readAnew(message);
    known.set(message, asked);
  }
  return asked;
};

/** What is left for people to read: the words without an address at their head. */
export const wordsOf = ({ prompt, image }: Asked): string => {
  const { baseImage } = readImageWords(prompt, 'stable-diffusion');
  return baseImage !== '' && (image.base_image === '' || image.base_image === baseImage)
    ? prompt.trim().slice(baseImage.length).trim()
    : prompt.trim();
};

/** The image it starts from; empty: none. */
export const baseOf = ({ prompt, image }: Asked): string =>
  image.base_image || readImageWords(prompt, 'stable-diffusion').baseImage;

/** What is done, where that is not painting from words. */
export const taskName = ({ type, image: { parameters } }: Asked): string => {
  switch (type) {
    case 'upscale':
      return `高清放大 ${parameters.resize ?? 2}×`;
    case 'vary':
      return '再来几张';
    case 'remove-bg':
      return '抠图';
    case 'edit-bg':
      return '换背景';
    case 'edit':
      return '局部重绘';
    case 'blend':
      return `融图 ${parameters.blend?.length ?? 0} 张`;
    case 'action': {
      const far = parameters.zoom === undefined ? '' : `${parameters.zoom / 100} 倍`;
      return [parameters.action?.emoji, parameters.action?.label, far].filter(Boolean).join(' ');
    }
    case 'img2img':
      return '参考图';
    default:
      return '';
  }
};

/** Width by height of the images to come, so that their place is kept. */
export const shapeOf = (
  asked: Asked,
  model: Model | undefined,
): { width: number; height: number } => {
  const { parameters, size } = asked.image;
  const aspect = readImageWords(asked.prompt, model?.image?.family ?? 'built-in').flags.aspect;
  const [width = 1, height = 1] = (aspect ?? parameters.aspect ?? '1:1').split(':').map(Number);
  if (model?.image?.family === 'midjourney' && width > 0 && height > 0) return { width, height };
  if (model?.image) return sizeFor(model.image, size);
  return imageSizes.find((each) => each.code === size) ?? { width: 1024, height: 1024 };
};

/** How many images are to come. */
export const countOf = (asked: Asked, model: Model | undefined): number => {
  const { type, image } = asked;
  return model?.image
    ? imagesOf(type, model.image, { ...image, withBaseImage: baseOf(asked) !== '' })
    : image.n;
};

/** What a request will take, as it stands in a message or is to be sent. */
export const priceOfAsked = (
  asked: Asked,
  model: Model,
  user: { vip: number } | null,
  translation = 0,
): ImagePrice => {
  const { image } = asked;
  const size = model.image ? pricedSize(model.image, image.size) : image.size;
  return imagePrice({ ...image, n: countOf(asked, model), size }, model, user, translation);
};

/** A request to do something with an image that was made here. */
export const followUp = (
  type: ImageTask,
  from: { asked: Asked; image: MadeImage; parameters?: ImageParameters },
): Asked => {
  const { asked, image, parameters = {} } = from;
  const { image: request } = asked;
  const kept = type === 'vary' || type === 'action' ? request.parameters : {};
  const { seed: _seed, action: _action, resize: _resize, mask: _mask, ...rest } = kept;
  const { zoom: _zoom, blend: _blend, brush: _brush, brush_inverted: _all, ...others } = rest;
  return {
    type,
    prompt: asked.prompt,
    image: {
      ...usual,
      n: type === 'vary' ? request.n : type === 'edit' ? limits.imageEditCount : 1,
      size: request.size,
      translate: request.translate,
      base_image: type === 'action' ? '' : image.url,
      parameters: {
        ...others,
        ...parameters,
        ...(image.id > 0 ? { image_id: image.id } : {}),
      },
    },
  };
};

/** The same request once more; where a seed was given, a new one will be drawn. */
export const onceMore = (asked: Asked): Asked => {
  const { seed: _seed, ...parameters } = asked.image.parameters;
  return { ...asked, image: { ...asked.image, parameters } };
};
