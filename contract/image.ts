import * as z from 'zod/mini';
import { id, text, time, wholeNumber } from './call.ts';
import { madeBy } from './file.ts';
import { limits } from './limits.ts';

/** What the parameters of a model are like (document 2 §3); its tool shows those. */
export const imageFamily = z.enum([
  'built-in',
  'stable-diffusion',
  'sd3',
  'midjourney',
  'dalle',
  'openai',
  'cloud',
]);
export type ImageFamily = z.output<typeof imageFamily>;

/** What a model's engine can do. */
export const imageAbility = z.enum([
  'text-to-image',
  'image-to-image',
  'edit',
  'upscale',
  'interrogate',
  'remove-background',
  'edit-background',
  'controlnet',
  'negative-prompt',
  'seed',
  'lora',
  'references',
  'blend',
]);
export type ImageAbility = z.output<typeof imageAbility>;

/** What a model of images takes, so that the page asks for nothing else. */
export const imageModel = z.object({
  family: imageFamily,
  abilities: z.array(imageAbility),
  /** `WxH`; empty: any of `imageSizes`. The size limit list of document 2 §4. */
  sizes: z.array(z.string()),
  checkpoints: z.array(
    z.object({ name: z.string(), label: z.string(), factor: z.nullable(z.number()) }),
  ),
  default_checkpoint: z.string(),
  /** Images at once: usual and most. */
  default_count: z.int(),
  max_count: z.int(),
  /** Whether prompts are translated into English unless chosen otherwise. */
  default_translate: z.boolean(),
});
export type ImageModel = z.output<typeof imageModel>;

const slider = (min: number, max: number) => z.optional(wholeNumber(min, max));
/** The address of an image. */
export const imageUrl = text(2000);

const coordinate = z.int().check(z.gte(0), z.lte(30_000));
const stroke = z.object({
  size: z.int().check(z.gte(1), z.lte(limits.brush.size)),
  /** It is the outline of an area: all within it counts, too. */
  area: z.optional(z.boolean()),
  /** Takes away what was painted before it. */
  erase: z.optional(z.boolean()),
  points: z
    .array(coordinate)
    .check(z.minLength(2), z.maxLength(limits.brush.points * 2))
    .check(z.refine((points) => points.length % 2 === 0)),
});
/** Strokes of a brush over an image. */
export const brush = z
  .array(stroke)
  .check(z.minLength(1), z.maxLength(limits.brush.strokes))
  .check(
    z.refine(
      (strokes) =>
        strokes.reduce((sum, { points }) => sum + points.length / 2, 0) <= limits.brush.points,
    ),
  );

/** What an image is made with beside its words; each family reads its own. Document 2 §3, §5, §9. */
export const imageParameters = z.object({
  // Midjourney
  aspect: z.optional(text(12).check(z.regex(/^\d{1,4}(\.\d{1,3})?:\d{1,4}(\.\d{1,3})?$/))),
  version: z.optional(text(8)),
  is_niji: z.optional(z.boolean()),
  style: z.optional(text(60)),
  chaos: slider(0, 100),
  stylize: slider(0, 1000),
  stop: slider(10, 100),
  weird: slider(0, 3000),
  quality: z.optional(z.enum(['.25', '.5', '1'])),
  tile: z.optional(z.boolean()),
  no: z.optional(text(500)),
  cref: z.optional(z.array(z.object({ url: imageUrl })).check(z.maxLength(limits.styleReferences))),
  cw: slider(0, 100),
  sref: z.optional(
    z
      .array(z.object({ url: imageUrl }))
      .check(z.maxLength(limits.styleReferences, `图片数量不能大于${limits.styleReferences}张`)),
  ),
  sw: slider(0, 1000),
  random_style: z.optional(z.boolean()),
  /** Image weight, hundredths: 0 to 2 in Midjourney's own writing. */
  weight: slider(0, 200),
  style_version: slider(1, 4),
  repeat: slider(1, 10),
  // Stable Diffusion and 内置画板
  checkpoint: z.optional(text(200)),
  lora: z.optional(
    z.array(z.object({ key: text(200), weight: wholeNumber(1, 100) })).check(z.maxLength(10)),
  ),
  negative_prompt: z.optional(text(2000)),
  seed: z.optional(wholeNumber(0, 4_294_967_295)),
  steps: slider(1, 150),
  cfg_scale: slider(1, 30),
  sampler: z.optional(text(100)),
  // The cloud model
  logo_add: z.optional(z.boolean()),
  revise: z.optional(z.boolean()),
  // DALL-E
  hd: z.optional(z.boolean()),
  // What is done with an image that is there
  /** Of an upscale: 2 or 4 times, and the upscaler's name. */
  resize: z.optional(z.union([z.literal(2), z.literal(4)])),
  upscaler: z.optional(text(100)),
  /** Of an edit or an action that asks for a region: what is drawn anew, in pixels of the base. */
  mask: z.optional(
    z.object({
      left: wholeNumber(0, 30_000),
      top: wholeNumber(0, 30_000),
      width: wholeNumber(1, 30_000),
      height: wholeNumber(1, 30_000),
    }),
  ),
  /**
   * With a mask, what of it was painted over: lines as thick as `size` through points x, y, x, y …,
   * in pixels of the base. Nothing: all of it.
   */
  brush: z.optional(brush),
  /** What was not painted over is meant, within the mask. */
  brush_inverted: z.optional(z.boolean()),
  /** Of a background: a colour as #rrggbb, or the address of an image. */
  bg_color: z.optional(text(7).check(z.regex(/^#[0-9a-fA-F]{6}$/))),
  bg_image: z.optional(imageUrl),
  /** Of an action on a Midjourney job: the button's hash and what it is called. */
  action: z.optional(z.object({ hash: text(300), emoji: text(40), label: text(60) })),
  /** Of an action that asks for it: how far the view draws back, hundredths. */
  zoom: slider(100, 200),
  /** The images that are made into one. */
  blend: z.optional(z.array(z.object({ url: imageUrl })).check(z.maxLength(limits.blend.max))),
  /** Of a variation or an action: the image it starts from. */
  image_id: z.optional(id),
});
export type ImageParameters = z.output<typeof imageParameters>;
/** The same where one that nobody reads is refused. */
export const strictImageParameters = z.strictObject(imageParameters.shape);

/** What can be asked for in a session of images; `type` of a structured message there. */
export const imageTask = z.enum([
  'txt2img',
  'img2img',
  'vary',
  'blend',
  'upscale',
  'edit',
  'remove-bg',
  'edit-bg',
  'action',
]);
export type ImageTask = z.output<typeof imageTask>;

/** Where an image comes from. */
export const imageOrigin = z.enum(['drawn', 'uploaded', 'edited', 'imported']);
export type ImageOrigin = z.output<typeof imageOrigin>;

/** How a base image is brought to the size asked for: stretch, crop, fill, upscale. */
export const resizeMode = wholeNumber(0, 3);

/** A button below a finished job, as a Midjourney service or this server offers it. */
export const imageAction = z.object({
  hash: z.string(),
  emoji: z.string(),
  /** In Chinese. */
  label: z.string(),
  /** What the person must say before: `parameters.mask` or `parameters.zoom`. */
  asks: z.optional(z.enum(['region', 'zoom'])),
});
export type ImageAction = z.output<typeof imageAction>;

/** One image of an answer; the JSON list of them is `ai` of a message of type 1. */
export const madeImage = z.object({
  /** 0 where there is none, because it failed. */
  id: z.int(),
  uuid: z.string(),
  /** Address below this server; `?size=` thumbnails as of uploads. Empty: failed or deleted. */
  url: z.string(),
  width: z.int(),
  height: z.int(),
  /** Null: the engine has none. */
  seed: z.nullable(z.int()),
  /** Why this one failed; empty: it did not. */
  error: z.string(),
});
export type MadeImage = z.output<typeof madeImage>;

/** What stands in `ai` of an answered message of images, as JSON. */
export const imageReply = z.object({
  images: z.array(madeImage),
  actions: z.array(imageAction),
  /** The words as the engine was given them, and as it changed them itself (`revised_prompt`). */
  prompt: z.string(),
  revised_prompt: z.string(),
  /** The service that answered, in words for people. */
  engine: z.string(),
  parameters: imageParameters,
  width: z.int(),
  height: z.int(),
  /** Things in the words that the engine knows it cannot draw; left out: it does not know. */
  unread: z.optional(z.array(z.string())),
});
export type ImageReply = z.output<typeof imageReply>;

/** The groups of keywords (document 2 §3): directory, then groups in it. */
export const keywordType = z.enum(['quality', 'composition', 'looks', 'effect', 'draw', 'command']);
export type KeywordType = z.output<typeof keywordType>;

/** An image as lists have it (document 2 §3). */
export const listedImage = z.object({
  id: z.int(),
  uuid: z.string(),
  /** Empty: it was deleted. */
  url: z.string(),
  /** `WxH`, pixels. */
  size: z.string(),
  user_id: z.int(),
  /** Whose it is. */
  user_name: z.string(),
  session_id: z.nullable(z.int()),
  liked_count: z.int(),
  disliked_count: z.int(),
  /** The asker's vote: 1, -1, 0 none. */
  like: z.int(),
  /** The same by its other name (document 2 §3). */
  isLiked: z.int(),
  model: z.string(),
  /** Why there is none; empty: there is. */
  error: z.string(),
  origin: imageOrigin,
  /** How it is known that a model made it; left out: nothing says so. */
  made: z.optional(madeBy),
  /** Its owner shows it to nobody. */
  hidden: z.boolean(),
  prompt: z.string(),
  created_at: time,
});
export type ListedImage = z.output<typeof listedImage>;
