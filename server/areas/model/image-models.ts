import type { ImageFamily, ImageModel } from '#contract/image.ts';
import { midjourneyAbilities } from '#server/engines/midjourney/midjourney-engine.ts';
import { webuiAbilities } from '#server/engines/stable-diffusion-webui/stable-diffusion-engine.ts';
import { limits } from '#contract/limits.ts';

/** How a model of images is offered where nobody said otherwise. */
export interface ImageOffer {
  image: ImageModel;
  /** Tokens for one image of size factor 1. */
  factor: number;
  vipExcluded: boolean;
  sort: number;
}

interface Kind extends ImageOffer {
  pattern: RegExp;
}

const model = (
  family: ImageFamily,
  own: Partial<ImageModel> & Pick<ImageModel, 'abilities'>,
): ImageModel => ({
  family,
  sizes: [],
  checkpoints: [],
  default_checkpoint: '',
  default_count: 1,
  max_count: limits.imageCount.most,
  default_translate: false,
  ...own,
});

/** Finds one of the words as a whole part of a model's name. */
export const part = (words: string): RegExp =>
  new RegExp(`(^|[-_/.:])(?:${words})(?=$|[-_/.:\\d])`, 'i');

const cloudSizes = ['1024x1024', '1024x768', '768x1024', '1024x576', '576x1024'];
const cloud = model('cloud', {
  abilities: ['text-to-image'],
  sizes: cloudSizes,
  default_count: limits.imageCount.cloud,
});
const gptImage = model('openai', {
  abilities: ['text-to-image', 'image-to-image', 'edit'],
  sizes: ['1024x1024', '1536x1024', '1024x1536'],
});

/** Models of images that OpenAI-compatible services have, told by their names; the first counts. */
const kinds: readonly Kind[] = [
  {
    pattern: part('dall-?e-?3'),
    image: model('dalle', {
      abilities: ['text-to-image'],
      sizes: ['1024x1024', '1792x1024', '1024x1792'],
      default_count: limits.imageCount.dalle,
    }),
    factor: 15_000,
    vipExcluded: true,
    sort: 320,
  },
  {
    pattern: part('dall-?e'),
    image: model('dalle', {
      abilities: ['text-to-image'],
      sizes: ['1024x1024', '512x512', '256x256'],
      default_count: limits.imageCount.dalle,
    }),
    factor: 7500,
    vipExcluded: true,
    sort: 330,
  },
  {
    pattern: /(^|[-_/.:])(?:gpt-image|chatgpt-image).*mini/i,
    image: gptImage,
    factor: 4000,
    vipExcluded: false,
    sort: 312,
  },
  {
    pattern: part('gpt-image|chatgpt-image'),
    image: gptImage,
    factor: 15_000,
    vipExcluded: false,
    sort: 310,
  },
  {
    pattern: part('stable-diffusion-?3|sd-?3|stable-image'),
    image: model('sd3', {
      abilities: ['text-to-image', 'image-to-image', 'negative-prompt', 'seed'],
      default_count: limits.imageCount.sd3,
      default_translate: true,
    }),
    factor: 10_000,
    vipExcluded: true,
    sort: 340,
  },
  {
    pattern: part(
      'wanx|wan|qwen-image|cogview|hunyuan-image|seedream|doubao-seedream|kolors|z-image',
    ),
    image: cloud,
    factor: 7500,
    vipExcluded: false,
    sort: 350,
  },
  {
    pattern: part('stable-diffusion|sdxl|sd'),
    image: model('openai', {
      abilities: ['text-to-image', 'negative-prompt', 'seed'],
      default_translate: true,
    }),
    factor: 5000,
    vipExcluded: false,
    sort: 360,
  },
  {
    pattern: part('flux|imagen|image|ideogram|recraft'),
    image: model('openai', { abilities: ['text-to-image'] }),
    factor: 7500,
    vipExcluded: false,
    sort: 370,
  },
];

/** What makes something else of an image, or a film: nothing that words alone make images with. */
const otherwise =
  /(^|[-_/.:])(?:edit|edits|inpaint|inpainting|i2i|i2v|t2v|s2v|kf2v|video|upscale|upscaler|vace|animate|lora|embedding|moderation|captioner|vl)(?=$|[-_/.:\d])/i;

/** Null: by its name it is no model that makes images from words. */
export const imageOfferOf = (name: string): ImageOffer | null =>
  otherwise.test(name) ? null : (kinds.find(({ pattern }) => pattern.test(name)) ?? null);

const stableDiffusion: ImageOffer = {
  image: model('stable-diffusion', {
    abilities: [...webuiAbilities],
    default_count: 2,
    default_translate: true,
  }),
  factor: 1000,
  vipExcluded: false,
  sort: 305,
};

const midjourney: ImageOffer = {
  image: model('midjourney', {
    abilities: [...midjourneyAbilities],
    default_count: limits.imageCount.midjourney,
    max_count: limits.imageCount.midjourney,
    default_translate: true,
  }),
  factor: 2000,
  vipExcluded: false,
  sort: 300,
};

/** What 内置画板 offers, whose engine says what it can do. */
export const canvasImage = (abilities: ImageModel['abilities']): ImageModel =>
  model('built-in', { abilities, default_count: 2 });

/** The models of services that have one for images each. */
export const serviceModels = {
  'stable-diffusion-webui': {
    name: 'stable-diffusion',
    label: 'Stable Diffusion',
    ...stableDiffusion,
  },
  midjourney: { name: 'midjourney', label: 'Midjourney', ...midjourney },
} as const;
