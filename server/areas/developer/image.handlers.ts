import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Parsed } from '#contract/calls.ts';
import type { ImageParameters, ImageTask } from '#contract/image.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import { imageEditFields, imageFields, imageVariationFields } from '#contract/open-fields.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { Refusal, type UploadedFile } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { OpenContext, OpenHandlers } from '#server/http/open-handlers.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import { jobOfRequest, ownJob } from '#server/jobs/job.service.ts';
import { wantsMarks } from '../compliance/foot.ts';
import type { FileService } from '../file/file.service.ts';
import { markedQuery } from '../file/image-address.ts';
import { openBox } from '../file/image.ts';
import {
  type AccountWish,
  createAccountImages,
  requireSize,
} from '../image/account-images.service.ts';
import { imagesOfJob } from '../image/images.service.ts';
import { createAnalysisService } from '../image/analysis.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedImageModel } from '../model/resolved-model.ts';
import { handOver } from '../ledger/ledger.service.ts';
import { openCharge } from './charge.ts';
import { isUsable } from '../model/usable.ts';
import { mayUseModel, noSuchModel } from './chat.service.ts';
import * as store from './developer.store.ts';
import { takeFields, tellIgnored } from './fields.ts';
import { tellPrice } from './price-told.ts';

/** How often it is looked whether an image is done, ms. */
const lookEvery = 200;

/** What stands among a person's tasks: the words of programs are not kept there. */
const titleOf = 'API 画图';

/** Counts what works took that have ended; done once a minute, and when one is waited for. */
export const countEndedJobs = async (tx: Transaction): Promise<void> => {
  for (const ended of await store.takeEndedJobs(tx)) await store.endCall(tx, ended);
};

/** What OpenAI calls the quality and the style of an image, in this server's words. */
const wished = ({
  quality,
  style,
}: Pick<Parsed<'generateApiImages'>, 'quality' | 'style'>): ImageParameters => ({
  ...(quality && quality !== 'auto' ? { hd: quality === 'hd' || quality === 'high' } : {}),
  ...(style ? { style } : {}),
});

/**
 * What the model has of it: the style is DALL·E 3's alone, and vivid is what it does unasked; a
 * quality is told where there is none. @throws Refusal bad_input
 */
const fitting = (
  context: OpenContext,
  input: Pick<Parsed<'generateApiImages'>, 'quality' | 'style'>,
  { name, image }: ResolvedImageModel,
): void => {
  const isDalle3 = /dall-?e-?3/i.test(name);
  if (input.style === 'natural' && !isDalle3)
    throw new Refusal('bad_input', `style：模型 ${name} 没有这个参数，只有 DALL·E 3 有`);
  const ignored = [
    ...(input.style && !isDalle3 ? ['style'] : []),
    ...(input.quality && input.quality !== 'auto' && !isDalle3 && image.family !== 'openai'
      ? ['quality']
      : []),
  ];
  tellIgnored(context, ignored);
};

/** An own address without what it asks for: what we gave with words on it is taken again. */
const bare = (url: string): string => url.split('?')[0] ?? '';

export const createImageApi = (deps: {
  db: Database;
  models: ModelService;
  files: FileService;
  jobs: Pick<Jobs, 'cancelQueued'>;
  log: FastifyBaseLogger;
}): Pick<
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
  const { db, models, files, jobs } = deps;
  const accountImages = createAccountImages(deps);
  const analysis = createAnalysisService(deps);

  /** Whether a key may use the model of a name. */
  const offered = async (caller: OpenContext['caller']): Promise<(name: string) => boolean> => {
    const closed = await models.closedToApi(db);
    return (name) => mayUseModel(caller, name) && !closed.has(name);
  };
  const mayUse = async ({ caller }: OpenContext, name: string): Promise<boolean> =>
    (await offered(caller))(name);

  /** The named model of images, or the first that can do it: free ones before others. */
  const modelFor = async (
    context: OpenContext,
    task: ImageTask,
    named: string | null | undefined,
  ): Promise<ResolvedImageModel> => {
    if (named !== undefined && named !== null) {
      const model = await models.findImage(db, named);
      if (!model || !(await mayUse(context, named))) throw noSuchModel(named);
      if (!(await isUsable(db, model, context.caller.user))) throw noSuchModel(named);
      return model;
    }
    const listed = (await models.usable(db, context.caller.user))
      .filter(({ type }) => type === modelTypes.image)
      .sort((a, b) => Number(a.factor > 0) - Number(b.factor > 0));
    for (const { name } of listed) {
      const model = await models.findImage(db, name);
      if (model && accountImages.can(model, task) && (await mayUse(context, name))) return model;
    }
    throw new Refusal('job_unsuitable', '没有能这样做的绘画服务');
  };

  /** Begins a work. Gives the number to ask for it by. */
  const begin = async (
    context: OpenContext,
    wish: AccountWish,
    named: string | null | undefined,
    input: Parameters<typeof fitting>[1] = {},
  ): Promise<string> => {
    const { caller } = context;
    const model = await modelFor(context, wish.task, named);
    fitting(context, input, model);
    const { plan, cost } = accountImages.plan(wish, model);
    const charge = await openCharge(deps, caller, {
      model: model.name,
      type: modelTypes.image,
      amount: cost,
    });
    const uuid = randomUUID();
    try {
      await accountImages.begin(
        db,
        { uuid, plan, model, title: titleOf, holdId: cost === 0 ? null : charge.id, cost },
        caller.user,
        async (tx) => {
          await handOver(tx, charge.id);
          await store.insertJob(tx, {
            jobUuid: uuid,
            chargeId: charge.id,
            keyId: caller.keyId,
            userId: caller.user.id,
            model: model.name,
          });
        },
      );
    } catch (error) {
      await charge.release(false);
      throw error;
    }
    return uuid;
  };

  /**
   * Waits for a work. Who goes away cancels it while it waits; once it is being made its service is
   * paid, and so is it: the images lie with the account's others. @throws Refusal
   */
  const finished = async (context: OpenContext, uuid: string) => {
    const { caller, signal } = context;
    for (;;) {
      const row = await jobOfRequest(db, uuid, caller.user.id);
      if (!row) throw new Refusal('engine_failed');
      if (row.finished_at !== null) {
        await db.transaction(countEndedJobs);
        if (row.state === 'done') {
          caller.used = { ...caller.used, deductTokens: row.deduct_tokens };
          tellPrice(context, row.deduct_tokens);
          return imagesOfJob(db, uuid, caller.user.id);
        }
        throw new ApiRefusal('engine_failed', row.error_message || '图片生成失败，没有扣费');
      }
      try {
        await sleep(lookEvery, undefined, { signal });
      } catch {
        await jobs.cancelQueued(row.id);
        throw signal.reason;
      }
    }
  };

  /** Done images as OpenAI gives them. */
  const answer = async (
    context: OpenContext,
    uuid: string,
    format: 'url' | 'b64_json',
  ): Promise<{ json: unknown }> => {
    const data = [];
    const marked = await wantsMarks(db);
    for (const { url } of await finished(context, uuid)) {
      if (format === 'url') data.push({ url: context.origin + url + (marked ? markedQuery : '') });
      else {
        const image = await (marked
          ? files.markedAt(db, url)
          : files.imageAt(url, context.signal, context.caller.user));
        if (image) data.push({ b64_json: image.data.toString('base64') });
      }
    }
    return { json: { created: Math.floor(Date.now() / 1000), data } };
  };

  const keep = async (file: UploadedFile, { caller }: OpenContext): Promise<string> =>
    (await (await files.image(file, caller.user))(db)).url;

  /** The address of the image that a call works on. */
  const imageOf = async (
    context: OpenContext,
    given: { image_url?: string | undefined; image_base64?: string | undefined },
  ): Promise<string> => {
    const { image_url: url, image_base64: inline } = given;
    if (inline !== undefined) {
      const data = Buffer.from(inline.replace(/^data:[^,]*,/, ''), 'base64');
      return keep({ name: 'image', mime: '', data }, context);
    }
    if (url === undefined)
      throw new Refusal('bad_input', 'image_url：请给出图片的地址或 image_base64');
    if (url.startsWith(`${context.origin}/files/`)) return bare(url.slice(context.origin.length));
    if (url.startsWith('/files/')) return bare(url);
    return (await (await files.imageByUrl(url, context.caller.user))(db)).url;
  };

  const edit = async (
    context: OpenContext,
    input: Parameters<typeof imageOf>[1] & { model?: string | undefined },
    wish: Pick<AccountWish, 'task' | 'parameters'>,
  ) => {
    const baseImage = await imageOf(context, input);
    const uuid = await begin(context, { ...wish, prompt: '', baseImage }, input.model);
    return { json: { result: true, request_id: uuid } };
  };

  return {
    async generateApiImages(input, context) {
      takeFields(context, imageFields, input, 'service');
      const uuid = await begin(
        context,
        {
          task: 'txt2img',
          prompt: input.prompt,
          n: input.n ?? 1,
          size: requireSize(input.size),
          baseImage: '',
          parameters: { ...input.parameters, ...wished(input) },
        },
        input.model,
        input,
      );
      return answer(context, uuid, input.response_format ?? 'b64_json');
    },

    async editApiImages(input, context) {
      takeFields(context, imageEditFields, input, 'service');
      const [image, another] = context.files.filter(({ field }) => field !== 'mask');
      if (!image) throw new Refusal('bad_input', 'image：请选择一张图片');
      if (another) throw new Refusal('bad_input', 'image：一次只能改一张图片');
      const mask = context.files.find(({ field }) => field === 'mask');
      const box = mask
        ? await openBox(mask.data).catch((error: unknown) => {
            if (error instanceof Refusal) throw error;
            throw new Refusal('bad_input', 'mask：应是 PNG 图片');
          })
        : null;
      if (mask && !box) throw new Refusal('bad_input', 'mask：没有透明的部分');
      const uuid = await begin(
        context,
        {
          task: box ? 'edit' : 'img2img',
          prompt: input.prompt,
          n: input.n ?? 1,
          size: requireSize(input.size),
          baseImage: await keep(image, context),
          parameters: { ...wished(input), ...(box ? { mask: box } : {}) },
        },
        input.model,
        input,
      );
      return answer(context, uuid, input.response_format ?? 'b64_json');
    },

    async varyApiImages(input, context) {
      takeFields(context, imageVariationFields, input, 'service');
      const [image] = context.files;
      if (!image) throw new Refusal('bad_input', 'image：请选择一张图片');
      const uuid = await begin(
        context,
        {
          task: 'img2img',
          prompt: 'a variation of this image',
          n: input.n ?? 1,
          size: requireSize(input.size),
          baseImage: await keep(image, context),
          parameters: {},
        },
        input.model,
      );
      return answer(context, uuid, input.response_format ?? 'url');
    },

    async apiImage(input, context) {
      const { size } = input;
      const uuid = await begin(
        context,
        {
          task: 'txt2img',
          prompt: input.prompt,
          n: input.n,
          size: typeof size === 'string' ? requireSize(size) : size,
          baseImage: '',
          parameters: input.parameters ?? {},
        },
        input.model,
      );
      return { json: { result: true, request_id: uuid } };
    },

    async apiProgress({ request_id: uuid }, { caller, origin }) {
      const marked = await wantsMarks(db);
      const row = await ownJob(db, uuid, caller.user.id);
      if (row.finished_at !== null) await db.transaction(countEndedJobs);
      const made = row.state === 'done' ? await imagesOfJob(db, row.uuid, caller.user.id) : [];
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
        db,
        { image_url: await imageOf(context, input), model: input.clip, chinese: 0 },
        caller.user,
        await offered(caller),
      );
      return { json: { result: true, text: words.result, text_cn: words.result_cn } };
    },

    apiUpscale({ model, ...input }, context) {
      const upscaler = limits.upscalers.find((each) => each === model);
      return edit(
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

    apiRemoveBg: (input, context) => edit(context, input, { task: 'remove-bg', parameters: {} }),

    async apiEditBg(input, context) {
      const { bg_color: colour, bg_image: address } = input;
      const background =
        address === undefined ? null : await imageOf(context, { image_url: address });
      return edit(context, input, {
        task: 'edit-bg',
        parameters: {
          ...(colour === undefined ? {} : { bg_color: colour }),
          ...(background === null ? {} : { bg_image: background }),
        },
      });
    },
  };
};
