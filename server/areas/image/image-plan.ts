import * as z from 'zod/mini';
import { type ImageRequest, storedImageRequest, type StoredImageRequest } from '#contract/chat.ts';
import type { Parsed } from '#contract/calls.ts';
import type { ImageAbility, ImageModel, ImageParameters, ImageTask } from '#contract/image.ts';
import { defaultStrength, imagesOf } from '#contract/image-family.ts';
import {
  type ImageWords,
  parametersOf,
  readImageWords,
  saysWhat,
  writePrompt,
} from '#contract/image-prompt.ts';
import { pricedSize, sizeFor } from '#contract/image-size.ts';
import { blendText, limits } from '#contract/limits.ts';
import { imageDeduction, imageFactor, qualityRate, usualCount } from '#contract/price.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { ResolvedImageModel } from '../model/resolved-model.ts';

/** What one image of a job costs; kept with it, so that a change of price changes no running job. */
export interface ImagePrice {
  factor: number;
  size: number;
  dalle3: boolean;
  hd: boolean;
  quality?: number;
  rates?: readonly number[];
}

/** Everything that a job of images is worked on with; stands in its row as JSON. */
export interface ImagePlan {
  task: ImageTask;
  /** As the person wrote them, for records. */
  human: string;
  words: ImageWords;
  family: ImageModel['family'];
  n: number;
  width: number;
  height: number;
  parameters: ImageParameters;
  /** Addresses; empty: none. */
  baseImage: string;
  strength: number;
  resizeMode: number;
  control: { url: string; module: string; model: string; mode: 0 | 1 | 2 } | null;
  /** The words go to the service in English; by this chat model (empty: any), as that person. */
  translate: { model: string; guest: boolean } | null;
  price: ImagePrice;
  /** What a service calls the image that this starts from, and which service that was. */
  source: { channelId: number; remote: unknown } | null;
  /** The image whose words these were, which its person could see; left out: none. */
  inspiredBy?: number;
}

/** What the engine is asked for. */
export const engineTask = {
  txt2img: 'generate',
  img2img: 'generate',
  vary: 'generate',
  blend: 'generate',
  upscale: 'upscale',
  edit: 'edit',
  'remove-bg': 'remove-background',
  'edit-bg': 'edit-background',
  action: 'action',
} as const satisfies Record<ImageTask, string>;

export const abilityFor: Readonly<Partial<Record<ImageTask, ImageAbility>>> = {
  txt2img: 'text-to-image',
  img2img: 'image-to-image',
  vary: 'image-to-image',
  blend: 'blend',
  upscale: 'upscale',
  edit: 'edit',
  'remove-bg': 'remove-background',
  'edit-bg': 'edit-background',
};

export const priceOf = (price: ImagePrice, n: number): number => imageDeduction({ n, ...price });

/** A message's wishes with what the call that begins the work says beside or instead of them. */
export const requestOf = (
  stored: StoredImageRequest | undefined,
  input: Omit<Parsed<'generateImage'>, 'size'> & { size?: number | undefined },
  model: Pick<ResolvedImageModel, 'factor' | 'image' | 'sizeRates'>,
  /** What the person has for them, tokens; null: they pay nothing. */
  left: number | null,
): ImageRequest => {
  const { image, sizeRates } = model;
  const { size = limits.defaultImageSize, parameters = {} } = input;
  const n = usualCount(
    { ...model, ...(sizeRates ? { rates: sizeRates } : {}) },
    {
      size: pricedSize(image, size),
      checkpoint: input.checkpoint ?? parameters.checkpoint,
      hd: parameters.hd === true,
    },
    left,
  );
  const request = stored ?? z.parse(storedImageRequest, {});
  const usual = image.default_translate ? 1 : 0;
  const { checkpoint, style } = input;
  return {
    ...request,
    n: input.n ?? request.n ?? n,
    size: input.size ?? request.size,
    translate: input.translate ?? request.translate ?? usual,
    parameters: {
      ...request.parameters,
      ...input.parameters,
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(style === undefined ? {} : { style }),
    },
  };
};

/**
 * With an image to start from it is changed. The documents have one type for all that images guide:
 * where they guide without one to start from, it is drawn from the words.
 */
const taskFor = (asked: ImageTask, baseImage: string, wish: ImageRequest): ImageTask => {
  if (asked === 'txt2img' && baseImage !== '') return 'img2img';
  const { cref = [], sref = [] } = wish.parameters;
  const guided = wish.controlnet_image !== '' || cref.length + sref.length > 0;
  return asked === 'img2img' && baseImage === '' && guided ? 'txt2img' : asked;
};

/**
 * What is to be made, of the words and wishes of a message.
 * @throws Refusal job_unsuitable for what the model cannot do, bad_input for what is missing
 */
export const planImages = (
  asked: {
    task: ImageTask;
    human: string;
    request: ImageRequest;
    translateWith: NonNullable<ImagePlan['translate']>;
  },
  model: {
    factor: number;
    image: ImageModel;
    onlyCheckpoints?: boolean;
    sizeRates?: readonly number[] | null;
  },
): Omit<ImagePlan, 'source'> => {
  const { human, request } = asked;
  const { family, abilities } = model.image;
  const read = readImageWords(human, family);
  const baseImage = read.baseImage === '' ? request.base_image : read.baseImage;
  const task = taskFor(asked.task, baseImage, request);
  const words = { ...read, baseImage: task === 'action' ? '' : baseImage };
  const parameters = parametersOf(words, request.parameters);
  // An action goes on from a finished image: what went along with that one has had its effect.
  if (task === 'action')
    for (const key of ['cref', 'sref', 'weight'] as const) delete parameters[key];
  if (model.onlyCheckpoints) {
    // The service's own usual one may be one that nobody may use.
    parameters.checkpoint ??= model.image.default_checkpoint;
    if (!model.image.checkpoints.some(({ name }) => name === parameters.checkpoint))
      throw new Refusal('bad_input', 'parameters.checkpoint：这个大模型现在不能用');
  }
  const ability = abilityFor[task];
  if (ability && !abilities.includes(ability)) throw new Refusal('job_unsuitable');
  const fromImage = task !== 'txt2img' && task !== 'action' && task !== 'blend';
  if (fromImage && baseImage === '') throw new Refusal('bad_input', 'base_image：请选择图片');
  if (task === 'blend' && (parameters.blend?.length ?? 0) < limits.blend.min)
    throw new Refusal('bad_input', `parameters.blend：${blendText}`);
  if (task === 'edit' && !parameters.mask)
    throw new Refusal('bad_input', 'parameters.mask：请框选要修改的区域');
  if (task === 'edit-bg' && !parameters.bg_color && !parameters.bg_image)
    throw new Refusal('bad_input', 'parameters.bg_color：请选择背景颜色或图片');
  if (task === 'upscale') parameters.resize ??= 2;
  let control: ImagePlan['control'] = null;
  if (request.controlnet_image !== '') {
    if (request.controlnet_module === '')
      throw new Refusal('bad_input', 'controlnet_module：请选择构图控制模型');
    if (!abilities.includes('controlnet')) throw new Refusal('job_unsuitable');
    control = {
      url: request.controlnet_image,
      module: request.controlnet_module,
      model: request.controlnet_model,
      mode: request.controlnet_control_mode as 0 | 1 | 2,
    };
  }
  const size = sizeFor(model.image, request.size);
  return {
    task,
    human,
    words,
    family,
    n: imagesOf(task, model.image, {
      n: request.n,
      parameters,
      withBaseImage: baseImage !== '',
    }),
    width: size.width,
    height: size.height,
    parameters,
    baseImage,
    strength: read.strength ?? request.strength ?? defaultStrength(family),
    resizeMode: read.resizeMode ?? request.resize_mode,
    control,
    translate: request.translate === 1 && saysWhat(task, parameters) ? asked.translateWith : null,
    price: {
      factor: imageFactor(model, parameters.checkpoint),
      size: pricedSize(model.image, request.size),
      dalle3: family === 'dalle',
      hd: parameters.hd === true,
      quality: qualityRate(family, parameters.hd === true),
      ...(model.sizeRates ? { rates: model.sizeRates } : {}),
    },
  };
};

/** What the service is given as its prompt. */
export const promptOf = (plan: ImagePlan, words: ImageWords = plan.words): string =>
  writePrompt(words, plan.family, plan.parameters);

/** The parameters that are kept with what was made: what was painted over tells nobody anything. */
export const keptParameters = ({
  brush: _brush,
  brush_inverted: _inverted,
  ...kept
}: ImageParameters): ImageParameters => kept;

/** What is written into an image's file, in the order that programs for such images use. */
export const imageText = (about: {
  prompt: string;
  negative: string;
  seed: number | null;
  width: number;
  height: number;
  model: string;
  parameters: ImageParameters;
}): string => {
  const { parameters, seed } = about;
  const facts = [
    parameters.steps === undefined ? '' : `Steps: ${parameters.steps}`,
    parameters.sampler === undefined ? '' : `Sampler: ${parameters.sampler}`,
    parameters.cfg_scale === undefined ? '' : `CFG scale: ${parameters.cfg_scale}`,
    seed === null ? '' : `Seed: ${seed}`,
    `Size: ${about.width}x${about.height}`,
    `Model: ${parameters.checkpoint ?? about.model}`,
    `Parameters: ${JSON.stringify(parameters)}`,
  ].filter((fact) => fact !== '');
  return [
    about.prompt,
    about.negative === '' ? '' : `Negative prompt: ${about.negative}`,
    facts.join(', '),
  ]
    .filter((line) => line !== '')
    .join('\n');
};
