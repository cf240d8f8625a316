import { codes } from '#contract/errors.ts';
import {
  ImageEngineError,
  type ImageOrder,
  type EngineImage,
} from '#server/engines/image-engine.ts';
import { broughtTo, changedWithin } from '#server/engines/image-pixels.ts';
import { askable, engineIo, turnInMs } from '#server/jobs/engine-io.ts';
import { Refusal } from '#server/http/handlers.ts';
import { JobError, type ClaimedJob, type JobIo } from '#server/jobs/job-kind.ts';
import { newKey } from '#server/storage/storage.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import type { ImageChannel } from '../model/resolved-model.ts';
import { type Done, edits, type ImageWorkDeps, type Painted } from './image-job.ts';
import { orderOf, wordsFor } from './image-order.ts';
import { imageText, keptParameters, type ImagePlan } from './image-plan.ts';

type Order = Omit<ImageOrder, 'model'>;

/** One try of a job. */
interface Try {
  job: ClaimedJob;
  plan: ImagePlan;
  done: Done;
  io: JobIo;
}

const missing = '图片没有画出来';
const refused = '图片没有通过内容安全检查，没有扣费';
const unreadable = '服务给的图片无法读取';

/** Runs the order at one service. */
const runAt = (
  { files }: Pick<ImageWorkDeps, 'files'>,
  channel: ImageChannel,
  order: Order,
  { done, io }: Try,
) => {
  return channel.engine.run(
    { ...order, model: channel.upstreamName },
    { ...engineIo(io, channel.channelId, done, files.preview), stopped: io.stopped },
  );
};

/** Does something with each image that there is. */
const changed = (
  given: readonly EngineImage[],
  change: (data: Buffer) => Promise<Buffer>,
): Promise<readonly EngineImage[]> =>
  Promise.all(
    given.map(async (image) => (image.data ? { ...image, data: await change(image.data) } : image)),
  );

/**
 * What counts of what a service gave: of a changed background the part that was to be changed, and
 * what was changed as large as was asked for, whatever steps of size a service knows.
 */
const asAsked = async (
  plan: ImagePlan,
  { base, width, height }: Order,
  given: readonly EngineImage[],
): Promise<readonly EngineImage[]> => {
  const { mask } = plan.parameters;
  const inPlace =
    plan.task === 'edit-bg' && mask && base
      ? await changed(given, (data) => changedWithin(base, data, mask))
      : given;
  if (!edits.has(plan.task)) return inPlace;
  return changed(inPlace, (data) => broughtTo(data, { width, height }));
};

const checkedOf = (job: ClaimedJob, { price }: ImagePlan) => ({
  userId: job.user_id,
  keep: true,
  paid: () => Promise.resolve(price.factor > 0),
});

/** Stores what a service gave; more than was asked for is left out, less is told. */
const keep = async (
  { db, files, safety, log }: Pick<ImageWorkDeps, 'db' | 'files' | 'safety' | 'log'>,
  order: Order,
  { plan, job, done, io }: Try,
  given: readonly EngineImage[],
): Promise<Painted['images']> => {
  const images: Painted['images'] = [];
  const wanted = plan.family === 'midjourney' ? Math.min(given.length, plan.n) : plan.n;
  const keys = Array.from({ length: Math.max(1, wanted) }, newKey);
  // Whoever takes over from a worker that dies between here and the end finds what it stored.
  done.keys = keys;
  await io.remember(done);
  for (const [at, key] of keys.entries()) {
    const image = given[at];
    if (!image?.data) {
      images.push({ kept: null, error: image?.error || missing });
      continue;
    }
    const { level } = await safety.checkPicture('out', image.data, checkedOf(job, plan));
    if (level === 'refuse') {
      images.push({ kept: null, error: refused });
      continue;
    }
    const seed = image.seed !== null && Number.isSafeInteger(image.seed) ? image.seed : null;
    try {
      const text = imageText({
        prompt: order.prompt,
        negative: plan.parameters.negative_prompt ?? '',
        seed,
        width: order.width,
        height: order.height,
        model: job.model,
        parameters: keptParameters(plan.parameters),
      });
      const label = await makeLabel(db, {
        kind: 'image',
        userId: job.user_id,
        model: job.model,
      });
      const kept = await files.keepMade(key, image.data, { text, label });
      images.push({ kept: { ...kept, seed }, error: '' });
    } catch (error) {
      log.warn({ err: error, job: job.id }, 'a service gave a image that is none');
      images.push({ kept: null, error: unreadable });
    }
  }
  return images;
};

/** All services that can do it: of an image that it starts from the one that has it. */
const channelsFor = async (
  { db, models }: Pick<ImageWorkDeps, 'db' | 'models'>,
  { plan, job }: Try,
): Promise<ImageChannel[]> => {
  const channels = await models.imageEngines(db, job.model, job.user_id);
  return plan.source
    ? channels.filter(({ channelId }) => channelId === plan.source?.channelId)
    : channels;
};

/** What one service made; throws what it says where it made nothing. @throws JobError */
const paintAt = async (
  deps: ImageWorkDeps,
  channel: ImageChannel,
  order: Order,
  now: Try,
): Promise<Painted> => {
  const { models, log } = deps;
  const { job, plan, done, io } = now;
  const { channelId, label } = channel;
  const outcome = { channel, model: job.model, userId: job.user_id };
  const spend = () => {
    delete done.at;
    done.spent = [...(done.spent ?? []), channelId];
    return io.remember(done);
  };
  try {
    const result = await runAt(deps, channel, order, now);
    const given = await asAsked(plan, order, result.images);
    const images = await keep(deps, order, now, given);
    if (images.some(({ kept }) => kept)) {
      models.reportImageOutcome({ ...outcome, failure: null });
      const size = { width: order.width, height: order.height };
      return { images, prompt: order.prompt, result, channel: { channelId, label }, size };
    }
    if (images.some(({ error }) => error === refused))
      throw new JobError('prompt_banned', refused, { retriable: false });
    const told =
      result.images.find((image) => image.error !== '')?.error ?? codes.engine_failed.text;
    await spend();
    // No image at all may be the words' doing; one that cannot be read is the service's.
    const failure = new ImageEngineError('engine_failed', told, { retriable: true });
    if (given.some(({ data }) => data)) models.reportImageOutcome({ ...outcome, failure });
    throw new JobError('engine_failed', told, { retriable: true });
  } catch (error) {
    if (error instanceof JobError) throw error;
    io.signal.throwIfAborted();
    if (!(error instanceof ImageEngineError)) throw error;
    const { message: told } = error;
    models.reportImageOutcome({ ...outcome, failure: error });
    // That work is over; the next try orders anew, where that is not paid twice.
    if (error.taken) await spend();
    else if (done.at) {
      delete done.at;
      await io.remember(done);
    }
    const about = { job: job.id, channelId };
    // What somebody asked for is no fault of the house's, and has no trace that would help.
    if (error.askerAtFault) log.info({ ...about, told }, 'images were refused for what they asked');
    else log.warn({ err: error, ...about }, 'a service did not make the images');
    throw new JobError(error.codeName, told, {
      retriable: error.retriable,
      ...(error.busy ? { turnInMs } : {}),
    });
  }
};

/**
 * Has the images of a job made by the first service that has a place and does it.
 * @throws JobError
 */
export const paint = async (
  deps: ImageWorkDeps,
  job: ClaimedJob,
  done: Done,
  io: JobIo,
): Promise<{ result: Painted } | { waitFor: number }> => {
  const plan = job.input as ImagePlan;
  const now = { job, plan, done, io };
  const all = await channelsFor(deps, now);
  const channels = askable(all, done);
  const [firstChannel] = channels;
  if (!firstChannel)
    throw all.length > 0
      ? new JobError('engine_failed', codes.engine_failed.text, { retriable: false })
      : new JobError('model_unavailable', codes.model_unavailable.text, { retriable: true });
  const words = await wordsFor(deps, plan, job, now);
  const order = await orderOf(deps, plan, { words, userId: job.user_id, signal: io.signal });
  const of = checkedOf(job, plan);
  const asked = await deps.safety
    .requirePictures(of)
    .then(() => deps.safety.checkText('in', order.prompt, of))
    .catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      throw new JobError(error.codeName, error.message, { retriable: false });
    });
  if (asked.level === 'refuse')
    throw new JobError('prompt_banned', `提示词没有通过内容安全检查（${asked.reason}），没有扣费`, {
      retriable: false,
    });
  let failure: JobError | null = null;
  let full: JobError | null = null;
  for (const channel of channels) {
    if (failure && io.stopped.aborted) throw failure;
    const { channelId, label, engine } = channel;
    if (!(await io.place({ channelId, label, places: engine.concurrency }))) continue;
    try {
      return { result: await paintAt(deps, channel, order, now) };
    } catch (error) {
      if (!(error instanceof JobError) || !error.retriable) throw error;
      failure = error;
      if (error.turnInMs !== null) full = error;
    }
  }
  // One that has no room now will have some: that is waited for rather than what failed.
  if (full) throw full;
  if (failure && askable(all, done).length === 0)
    throw new JobError(failure.codeName, failure.message, { retriable: false });
  if (failure) throw failure;
  return { waitFor: firstChannel.channelId };
};
