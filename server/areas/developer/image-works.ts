import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Parsed } from '#contract/calls.ts';
import type { ImageTask } from '#contract/image.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { Refusal, type UploadedFile } from '#server/http/handlers.ts';
import { tellIgnored } from '#server/http/ignored-fields.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { OpenContext } from '#server/http/open-handlers.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import { jobOfRequest } from '#server/jobs/job.service.ts';
import { wantsMarks } from '../compliance/foot.ts';
import type { FileService } from '../file/file.service.ts';
import { markedQuery } from '../file/image-address.ts';
import {
  type AccountWish,
  beginAccountImages,
  canMake,
  planAccountImages,
} from '../image/account-images.ts';
import { imagesOfJob } from '../image/images.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedImageModel } from '../model/resolved-model.ts';
import { handOver } from '../ledger/ledger.service.ts';
import { openCharge } from './charge.ts';
import { isUsable } from '../model/usable.ts';
import { noSuchModel, openToKey } from './key-models.ts';
import * as store from './developer.store.ts';
import { endCall } from './ended-calls.store.ts';
import { tellPrice } from './price-told.ts';

/** Works of images that programs ask for, from their beginning to the answer. */

/** How often it is looked whether an image is done, ms. */
const lookEvery = 200;

/** What stands among a person's tasks: the words of programs are not kept there. */
const titleOf = 'API 画图';

export interface ImageApiDeps {
  db: Database;
  models: ModelService;
  files: FileService;
  jobs: Pick<Jobs, 'cancelQueued'>;
  log: FastifyBaseLogger;
}

/** Counts what works took that have ended; done once a minute, and when one is waited for. */
export const countEndedJobs = async (tx: Transaction): Promise<void> => {
  for (const ended of await store.takeEndedJobs(tx)) await endCall(tx, ended);
};

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

/** The named model of images, or the first that can do it: free ones before others. */
const modelFor = async (
  deps: ImageApiDeps,
  context: OpenContext,
  task: ImageTask,
  named: string | null | undefined,
): Promise<ResolvedImageModel> => {
  const { db, models } = deps;
  const mayUse = await openToKey(deps, context.caller);
  if (named !== undefined && named !== null) {
    const model = await models.findImage(db, named);
    if (!model || !mayUse(named)) throw noSuchModel(named);
    if (!(await isUsable(db, model, context.caller.user))) throw noSuchModel(named);
    return model;
  }
  const listed = (await models.usable(db, context.caller.user))
    .filter(({ type }) => type === modelTypes.image)
    .sort((a, b) => Number(a.factor > 0) - Number(b.factor > 0));
  for (const { name } of listed) {
    const model = await models.findImage(db, name);
    if (model && canMake(model, task) && mayUse(name)) return model;
  }
  throw new Refusal('job_unsuitable', '没有能这样做的绘画服务');
};

/** Begins a work. Gives the number to ask for it by. */
export const beginImages = async (
  deps: ImageApiDeps,
  context: OpenContext,
  wish: AccountWish,
  named: string | null | undefined,
  input: Parameters<typeof fitting>[1] = {},
): Promise<string> => {
  const { db, files } = deps;
  const { caller } = context;
  const model = await modelFor(deps, context, wish.task, named);
  fitting(context, input, model);
  const { plan, cost } = planAccountImages(wish, model);
  const charge = await openCharge(deps, caller, {
    model: model.name,
    type: modelTypes.image,
    amount: cost,
  });
  const uuid = randomUUID();
  try {
    await beginAccountImages(
      files,
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
const finished = async (
  { db, jobs }: Pick<ImageApiDeps, 'db' | 'jobs'>,
  context: OpenContext,
  uuid: string,
) => {
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

/**
 * The images of a work, once it is done, as OpenAI gives them; in both ways where nobody chose one, as
 * which is usual depends on OpenAI's model. @throws Refusal
 */
export const answerImages = async (
  deps: ImageApiDeps,
  context: OpenContext,
  uuid: string,
  format: 'url' | 'b64_json' | null | undefined,
): Promise<{ json: unknown }> => {
  const { db, files } = deps;
  const data = [];
  const marked = await wantsMarks(db);
  for (const { url } of await finished(deps, context, uuid)) {
    const open = { url: context.origin + url + (marked ? markedQuery : '') };
    if (format === 'url') {
      data.push(open);
      continue;
    }
    const image = await (marked
      ? files.markedAt(db, url)
      : files.imageAt(url, context.signal, context.caller.user));
    const inline = image && { b64_json: image.data.toString('base64') };
    if (inline) data.push(format ? inline : { ...inline, ...open });
  }
  return { json: { created: Math.floor(Date.now() / 1000), data } };
};

/** Keeps an image that came with a call; gives its address. */
export const keepImage = async (
  { db, files }: Pick<ImageApiDeps, 'db' | 'files'>,
  file: UploadedFile,
  { caller }: OpenContext,
): Promise<string> => (await (await files.image(file, caller.user))(db)).url;

/** The address of the image that a call works on. */
export const imageOf = async (
  deps: Pick<ImageApiDeps, 'db' | 'files'>,
  context: OpenContext,
  given: { image_url?: string | undefined; image_base64?: string | undefined },
): Promise<string> => {
  const { image_url: url, image_base64: inline } = given;
  if (inline !== undefined) {
    const data = Buffer.from(inline.replace(/^data:[^,]*,/, ''), 'base64');
    return keepImage(deps, { name: 'image', mime: '', data }, context);
  }
  if (url === undefined)
    throw new Refusal('bad_input', 'image_url：请给出图片的地址或 image_base64');
  if (url.startsWith(`${context.origin}/files/`)) return bare(url.slice(context.origin.length));
  if (url.startsWith('/files/')) return bare(url);
  return (await (await deps.files.imageByUrl(url, context.caller.user))(deps.db)).url;
};
