import type { Parsed } from '#contract/calls.ts';
import type { ImageParameters } from '#contract/image.ts';
import { limits } from '#contract/limits.ts';
import { imageEditFields, imageFields, imageVariationFields } from '#contract/open-fields.ts';
import { Refusal, type UploadedFile } from '#server/http/handlers.ts';
import type { OpenContext, OpenHandlers } from '#server/http/open-handlers.ts';
import { ownJob } from '#server/jobs/job.service.ts';
import { wantsMarks } from '../compliance/foot.ts';
import { markedQuery } from '../file/image-address.ts';
import { openBox } from '../file/image.ts';
import { type AccountWish, requireSize } from '../image/account-images.ts';
import { createAnalysisService } from '../image/analysis.service.ts';
import { imagesOfJob } from '../image/images.service.ts';
import { takeFields } from './fields.ts';
import {
  answerImages,
  beginImages,
  countEndedJobs,
  type ImageApiDeps,
  imageOf,
  keepImage,
} from './image-works.ts';
import { openToKey } from './key-models.ts';

/** What OpenAI calls the quality and the style of an image, in this server's words. */
const wished = ({
  quality,
  style,
}: Pick<Parsed<'generateApiImages'>, 'quality' | 'style'>): ImageParameters => ({
  ...(quality && quality !== 'auto' ? { hd: quality === 'hd' || quality === 'high' } : {}),
  ...(style ? { style } : {}),
});

/** Makes images as OpenAI's calls ask for them, of an image that came along or of words alone. */
const made = async (
  deps: ImageApiDeps,
  context: OpenContext,
  input: Pick<
    Parsed<'generateApiImages'>,
    'model' | 'n' | 'size' | 'quality' | 'style' | 'response_format'
  >,
  wish: Pick<AccountWish, 'task' | 'prompt' | 'parameters'> & { file?: UploadedFile },
) => {
  const { file, ...asked } = wish;
  const size = requireSize(input.size);
  const baseImage = file ? await keepImage(deps, file, context) : '';
  const whole = { ...asked, n: input.n ?? 1, size, baseImage };
  const uuid = await beginImages(deps, context, whole, input.model, input);
  return answerImages(deps, context, uuid, input.response_format);
};

/** The box that a mask leaves open. @throws Refusal bad_input */
const boxOf = async ({ data }: UploadedFile) => {
  const box = await openBox(data).catch((error: unknown) => {
    if (error instanceof Refusal) throw error;
    throw new Refusal('bad_input', 'mask：应是 PNG 图片');
  });
  if (!box) throw new Refusal('bad_input', 'mask：没有透明的部分');
  return box;
};

/** Begins to change an image; gives the number to ask for it by. */
const edit = async (
  deps: ImageApiDeps,
  context: OpenContext,
  input: Parameters<typeof imageOf>[2] & { model?: string | undefined },
  wish: Pick<AccountWish, 'task' | 'parameters'>,
) => {
  const baseImage = await imageOf(deps, context, input);
  const uuid = await beginImages(deps, context, { ...wish, prompt: '', baseImage }, input.model);
  return { json: { result: true, request_id: uuid } };
};

/** Images for programs. */
export const createImageApi = (
  deps: ImageApiDeps,
): Pick<
  OpenHandlers,
  | 'generateApiImages'
  | 'editApiImages'
  | 'varyApiImages'
  | 'apiImage'
  | 'apiProgress'
  | 'apiInterrogate'
  | 'apiUpscale'
  | 'apiRemoveBg'
  | 'apiEditBg'
> => {
  const analysis = createAnalysisService(deps);
  return {
    async generateApiImages(input, context) {
      takeFields(context, imageFields, input, 'service');
      const parameters = { ...input.parameters, ...wished(input) };
      const { prompt } = input;
      return made(deps, context, input, { task: 'txt2img', prompt, parameters });
    },

    async editApiImages(input, context) {
      takeFields(context, imageEditFields, input, 'service');
      const [file, another] = context.files.filter(({ field }) => field !== 'mask');
      if (!file) throw new Refusal('bad_input', 'image：请选择一张图片');
      if (another) throw new Refusal('bad_input', 'image：一次只能改一张图片');
      const mask = context.files.find(({ field }) => field === 'mask');
      const box = mask && (await boxOf(mask));
      return made(deps, context, input, {
        task: box ? 'edit' : 'img2img',
        prompt: input.prompt,
        parameters: { ...wished(input), ...(box ? { mask: box } : {}) },
        file,
      });
    },

    async varyApiImages(input, context) {
      takeFields(context, imageVariationFields, input, 'service');
      const [file] = context.files;
      if (!file) throw new Refusal('bad_input', 'image：请选择一张图片');
      const prompt = 'a variation of this image';
      const wish = { task: 'img2img', prompt, parameters: {}, file } as const;
      return made(deps, context, input, wish);
    },

    async apiImage({ prompt, n, size, parameters = {}, model }, context) {
      const asked = typeof size === 'string' ? requireSize(size) : size;
      const wish = { task: 'txt2img', prompt, n, size: asked, baseImage: '', parameters } as const;
      const uuid = await beginImages(deps, context, wish, model);
      return { json: { result: true, request_id: uuid } };
    },

    async apiProgress({ request_id: uuid }, { caller, origin }) {
      const marked = await wantsMarks(deps.db);
      const row = await ownJob(deps.db, uuid, caller.user.id);
      if (row.finished_at !== null) await deps.db.transaction(countEndedJobs);
      const made = row.state === 'done' ? await imagesOfJob(deps.db, row.uuid, caller.user.id) : [];
      return {
        json: {
          result: true,
          state: row.state,
          progress: row.state === 'done' ? 1 : row.progress,
          images: made.map(({ id, url, size }) => {
            const [width = 0, height = 0] = size.split('x').map(Number);
            return { url: origin + url + (marked ? markedQuery : ''), width, height, id };
          }),
          code: row.error_code,
          message: row.error_message,
          deduct_tokens: row.finished_at === null ? 0 : row.deduct_tokens,
        },
      };
    },

    async apiInterrogate(input, context) {
      const { caller } = context;
      const words = await analysis.interrogate(
        deps.db,
        { image_url: await imageOf(deps, context, input), model: input.clip, chinese: 0 },
        caller.user,
        await openToKey(deps, caller),
      );
      return { json: { result: true, text: words.result, text_cn: words.result_cn } };
    },

    apiUpscale({ model, ...input }, context) {
      const upscaler = limits.upscalers.find((each) => each === model);
      return edit(
        deps,
        context,
        upscaler === undefined && model !== undefined ? { ...input, model } : input,
        {
          task: 'upscale',
          parameters: {
            resize: input.scale ?? input.resize ?? 2,
            ...(upscaler === undefined ? {} : { upscaler }),
          },
        },
      );
    },

    apiRemoveBg: (input, context) =>
      edit(deps, context, input, { task: 'remove-bg', parameters: {} }),

    async apiEditBg(input, context) {
      const { bg_color: colour, bg_image: address } = input;
      const background =
        address === undefined ? null : await imageOf(deps, context, { image_url: address });
      return edit(deps, context, input, {
        task: 'edit-bg',
        parameters: {
          ...(colour === undefined ? {} : { bg_color: colour }),
          ...(background === null ? {} : { bg_image: background }),
        },
      });
    },
  };
};
