import type { FastifyBaseLogger } from 'fastify';
import type { ImageReply, ImageTask, MadeImage } from '../../../contract/image.ts';
import type { ImageWords } from '../../../contract/image-prompt.ts';
import { sessionTypes } from '../../../contract/session.ts';
import { excerptOf } from '../../../common/markdown/digest.ts';
import { endMade, finishImages } from '../chat/image-messages.service.ts';
import type { Database, Transaction } from '../../db/database.ts';
import {
  ImageEngineError,
  type ImageOrder,
  type ImageResult,
  type EngineImage,
  type Reference,
} from '../../engines/image-engine.ts';
import { broughtTo, changedWithin } from '../../engines/image-pixels.ts';
import type { FileService } from '../file/file.service.ts';
import { namedImage } from '../file/image-address.ts';
import { codes } from '../../../contract/errors.ts';
import { JobError, type ClaimedJob, type JobIo, type JobWork } from '../../jobs/job-kind.ts';
import { profilesOf } from '../train/styles.service.ts';
import { countFreeUse, noteFailedUse, release, settling } from '../ledger/ledger.service.ts';
import { Refusal } from '../../http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ImageChannel } from '../model/resolved-model.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import {
  engineTask,
  keptParameters,
  imageText,
  priceOf,
  promptOf,
  type ImagePlan,
} from './image-plan.ts';
import { newKey } from '../../storage/storage.ts';
import * as store from './image.store.ts';

/** An image that is stored; null: it failed. */
type Kept = {
  key: string;
  width: number;
  height: number;
  size: number;
  seed: number | null;
} | null;

interface Painted {
  images: { kept: Kept; error: string }[];
  prompt: string;
  result: Pick<ImageResult, 'actions' | 'revisedPrompt' | 'remote' | 'unread'>;
  channel: Pick<ImageChannel, 'channelId' | 'label'>;
  size: { width: number; height: number };
}

/** What stands in a job's `remote`: what was done already, for whoever takes it over. */
interface Done {
  /** The words in English, which are paid for. */
  english?: string;
  /** The service that has the work, and what it calls it. */
  at?: { channelId: number; remote: unknown };
  /** Keys of the files that were about to be stored. */
  keys?: string[];
}

export interface ImageWorkDeps {
  db: Database;
  models: Pick<ModelService, 'imageEngines' | 'reportImageOutcome'>;
  files: Pick<FileService, 'imageAt' | 'keepMade' | 'dropStored' | 'preview'>;
  translate: PromptService['translate'];
  /** Where people reach this server; empty: not known. */
  publicUrl: string;
  log: FastifyBaseLogger;
}

/** From its call to its end, ms. */
export const imageLivesMs = 13 * 60_000;

/** A program asked for it: its images belong to an account and to no message. */
const ofAccount = ({ subject_kind: kind }: Pick<ClaimedJob, 'subject_kind'>): boolean =>
  kind === 'account';

/** It goes on from an image by itself, outside of any message. */
const ofImage = ({ subject_kind: kind }: Pick<ClaimedJob, 'subject_kind'>): boolean =>
  kind === 'image';

/** Tasks that change an image; the others draw one. */
const edits: ReadonlySet<ImageTask> = new Set(['upscale', 'edit', 'remove-bg', 'edit-bg']);

/** The message whose images a job makes. */
const placeOf = (job: Pick<ClaimedJob, 'id' | 'session_id' | 'history_id'>) => {
  const { session_id: sessionId, history_id: historyId } = job;
  if (sessionId === null || historyId === null) throw new Error(`job ${job.id} has no message`);
  return { sessionId, historyId };
};

/** When a service whose queue was full is asked again, ms. */
const turnInMs = 8_000;
const missing = '图片没有画出来';
const unreadable = '服务给的图片无法读取';

export const createImageWork = (deps: ImageWorkDeps): JobWork<unknown> => {
  const { db, models, files, translate, publicUrl, log } = deps;

  const fetched = async (url: string, signal: AbortSignal) => {
    const image = await files.imageAt(url, signal);
    signal.throwIfAborted();
    if (!image)
      throw new JobError('address_unreachable', codes.address_unreachable.text, {
        retriable: false,
      });
    return image;
  };

  /** Where others find an image; empty: this server does not know how they reach it. */
  const addressOf = (url: string): string => {
    if (!url.startsWith('/')) return url;
    return publicUrl === '' ? '' : `${publicUrl}${url}`;
  };

  /** The order without the name of a model, with all images that it needs. */
  const orderOf = async (
    plan: ImagePlan,
    words: ImageWords,
    userId: number,
    signal: AbortSignal,
  ) => {
    const { parameters, control } = plan;
    const base = plan.baseImage === '' ? null : await fetched(plan.baseImage, signal);
    const all = async (references: { url: string }[] = []): Promise<Reference[]> => {
      const images = [];
      for (const { url } of references) {
        const { data } = await fetched(url, signal);
        images.push({ data, address: addressOf(url) });
      }
      return images;
    };
    // What is made of one image is as large as that image.
    const grown = plan.task === 'upscale' ? (parameters.resize ?? 2) : 1;
    const asBase = base && engineTask[plan.task] !== 'generate';
    return {
      task: engineTask[plan.task],
      prompt: promptOf(plan, words),
      n: plan.n,
      width: asBase ? base.width * grown : plan.width,
      height: asBase ? base.height * grown : plan.height,
      parameters,
      base: base?.data ?? null,
      strength: plan.strength,
      resizeMode: plan.resizeMode,
      control: control && {
        image: (await fetched(control.url, signal)).data,
        module: control.module,
        model: control.model,
        mode: control.mode,
      },
      references: { character: await all(parameters.cref), style: await all(parameters.sref) },
      blend: plan.task === 'blend' ? (await all(parameters.blend)).map(({ data }) => data) : [],
      background: parameters.bg_image ? (await fetched(parameters.bg_image, signal)).data : null,
      remote: plan.source?.remote ?? null,
      profiles: await profilesOf(
        db,
        (parameters.lora ?? []).map(({ key }) => key),
        userId,
      ),
    } satisfies Omit<ImageOrder, 'model'>;
  };

  /** The words as the service gets them, translated once however often the job is tried. */
  const wordsFor = async (plan: ImagePlan, job: ClaimedJob, done: Done, io: JobIo) => {
    if (!plan.translate || plan.words.prompt === '') return plan.words;
    if (done.english === undefined) {
      const { model, guest } = plan.translate;
      try {
        const { result } = await translate({ id: job.user_id, guest }, plan.words.prompt, {
          into: 'english',
          ...(model === '' ? {} : { model }),
        });
        done.english = result;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const retriable = error.codeName === 'engine_failed';
        throw new JobError(error.codeName, `翻译没有成功：${error.message}`, { retriable });
      }
      io.signal.throwIfAborted();
      await io.remember(done);
    }
    return { ...plan.words, prompt: done.english };
  };

  /** Runs the order at one service. */
  const runAt = (
    channel: ImageChannel,
    order: Omit<ImageOrder, 'model'>,
    done: Done,
    io: JobIo,
  ) => {
    const { channelId } = channel;
    return channel.engine.run(
      { ...order, model: channel.upstreamName },
      {
        signal: io.signal,
        stopped: io.stopped,
        sent: io.sent,
        progress: (fraction, preview) =>
          io.progress(fraction, preview && (() => files.preview(preview))),
        remember: (remote) => {
          done.at = { channelId, remote };
          return io.remember(done);
        },
        resume: done.at?.channelId === channelId ? done.at.remote : null,
      },
    );
  };

  /** What counts of a changed background where only a part of it was to be changed. */
  const inPlace = async (
    plan: ImagePlan,
    { base }: Pick<ImageOrder, 'base'>,
    given: readonly EngineImage[],
  ): Promise<readonly EngineImage[]> => {
    const { mask } = plan.parameters;
    if (plan.task !== 'edit-bg' || !mask || !base) return given;
    return Promise.all(
      given.map(async (image) =>
        image.data ? { ...image, data: await changedWithin(base, image.data, mask) } : image,
      ),
    );
  };

  /** What was changed is as large as was asked for, whatever steps of size a service knows. */
  const asLarge = async (
    plan: ImagePlan,
    { width, height }: Pick<ImageOrder, 'width' | 'height'>,
    given: readonly EngineImage[],
  ): Promise<readonly EngineImage[]> => {
    if (!edits.has(plan.task)) return given;
    return Promise.all(
      given.map(async (image) =>
        image.data ? { ...image, data: await broughtTo(image.data, { width, height }) } : image,
      ),
    );
  };

  /** Stores what a service gave; more than was asked for is left out, less is told. */
  const keep = async (
    order: Omit<ImageOrder, 'model'>,
    plan: ImagePlan,
    job: ClaimedJob,
    given: readonly EngineImage[],
    remember: (keys: string[]) => Promise<void>,
  ): Promise<Painted['images']> => {
    const images: Painted['images'] = [];
    const wanted = plan.family === 'midjourney' ? Math.min(given.length, plan.n) : plan.n;
    const keys = Array.from({ length: Math.max(1, wanted) }, newKey);
    // Whoever takes over from a worker that dies between here and the end finds what it stored.
    await remember(keys);
    for (const [at, key] of keys.entries()) {
      const image = given[at];
      if (!image?.data) {
        images.push({ kept: null, error: image?.error || missing });
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
        const kept = await files.keepMade(key, image.data, text);
        images.push({ kept: { ...kept, seed }, error: '' });
      } catch (error) {
        log.warn({ err: error, job: job.id }, 'a service gave a image that is none');
        images.push({ kept: null, error: unreadable });
      }
    }
    return images;
  };

  /** Which services to try: whoever has the work already, or the image it starts from, first. */
  const channelsFor = async (
    plan: ImagePlan,
    job: ClaimedJob,
    done: Done,
  ): Promise<ImageChannel[]> => {
    const channels = await models.imageEngines(db, job.model);
    if (plan.source)
      return channels.filter(({ channelId }) => channelId === plan.source?.channelId);
    const first = channels.filter(({ channelId }) => channelId === done.at?.channelId);
    return [...first, ...channels.filter((each) => !first.includes(each))];
  };

  const drop = async (keys: readonly string[]): Promise<void> => {
    if (keys.length === 0) return;
    // The row may have been stored although the answer to that got lost.
    const known = new Set(await store.knownKeys(db, keys));
    for (const key of keys) if (!known.has(key)) await files.dropStored({ key, type: 'png' });
  };

  const clear = (job: ClaimedJob): Promise<void> => drop((job.remote as Done | null)?.keys ?? []);

  const work = async (job: ClaimedJob, io: JobIo) => {
    const plan = job.input as ImagePlan;
    const done = (job.remote ?? {}) as Done;
    await clear(job);
    const channels = await channelsFor(plan, job, done);
    const [firstChannel] = channels;
    if (!firstChannel)
      throw new JobError('model_unavailable', codes.model_unavailable.text, { retriable: true });
    const words = await wordsFor(plan, job, done, io);
    const order = await orderOf(plan, words, job.user_id, io.signal);
    let failure: JobError | null = null;
    let full: JobError | null = null;
    const outcome = { model: job.model, userId: job.user_id };
    for (const channel of channels) {
      if (failure && io.stopped.aborted) throw failure;
      const { channelId, label, engine } = channel;
      if (!(await io.place({ channelId, label, places: engine.concurrency }))) continue;
      try {
        const result = await runAt(channel, order, done, io);
        const changed = await inPlace(plan, order, result.images);
        const given = await asLarge(plan, order, changed);
        const images = await keep(order, plan, job, given, (keys) => {
          done.keys = keys;
          return io.remember(done);
        });
        if (images.some(({ kept }) => kept)) {
          models.reportImageOutcome({ ...outcome, channelId, ok: true });
          return {
            result: {
              images,
              prompt: order.prompt,
              result,
              channel: { channelId, label },
              size: { width: order.width, height: order.height },
            } satisfies Painted,
          };
        }
        const error = result.images.find((image) => image.error !== '')?.error;
        // No image at all may be the words' doing; one that cannot be read is the service's.
        if (given.some(({ data }) => data))
          models.reportImageOutcome({ ...outcome, channelId, ok: false, told: error });
        failure = new JobError('engine_failed', error ?? codes.engine_failed.text, {
          retriable: true,
        });
      } catch (error) {
        io.signal.throwIfAborted();
        if (!(error instanceof ImageEngineError)) throw error;
        const { message: told, against } = error;
        models.reportImageOutcome({ ...outcome, channelId, ok: false, told, against });
        // That work is over; the next try orders anew.
        if (done.at) {
          delete done.at;
          await io.remember(done);
        }
        failure = new JobError(error.codeName, error.message, {
          retriable: error.retriable,
          ...(error.busy ? { turnInMs } : {}),
        });
        if (error.busy) full = failure;
        log.warn({ err: error, job: job.id, channelId }, 'a service did not make the images');
        if (!error.retriable) throw failure;
      }
    }
    // One that has no room now will have some: that is waited for rather than what failed.
    if (full ?? failure) throw full ?? failure;
    return { waitFor: firstChannel.channelId };
  };

  /** What the images of a job were made from: its subject, or an own base image. */
  const parentOf = async (tx: Transaction, job: ClaimedJob): Promise<number | null> => {
    if (ofImage(job)) return job.subject_id;
    const { baseImage, parameters } = job.input as ImagePlan;
    if (parameters.image_id !== undefined) return parameters.image_id;
    const named = namedImage(baseImage);
    return named ? ((await store.ownOfKey(tx, named.key, job.user_id))?.id ?? null) : null;
  };

  /** Where its images belong: to the message, or as their parent does to a session that is there. */
  const belonging = async (tx: Transaction, job: ClaimedJob, painted: Painted) => {
    // What a program made nobody but its owner sees.
    if (ofAccount(job)) return { sessionId: null, historyId: null, hidden: true };
    if (!ofImage(job)) return placeOf(job);
    const parent = await store.anyImage(tx, job.subject_id);
    const sessionId = parent?.sessionId ?? null;
    return {
      // What was said of the one is found with the other, unless new words were said.
      ...(painted.prompt === '' && parent ? { prompt: parent.prompt } : {}),
      sessionId: sessionId === null ? null : await store.livingSession(tx, sessionId),
      historyId: null,
      hidden: parent?.hidden ?? false,
    };
  };

  /** Takes what the images that were delivered cost; gives the tokens. */
  const charge = async (
    tx: Transaction,
    job: ClaimedJob,
    delivered: number,
    channelId: number,
  ): Promise<number> => {
    const use = {
      type: sessionTypes.image,
      model: job.model,
      prompt_tokens: 0,
      completion_tokens: 0,
      channelId,
    };
    if (job.hold_id === null) {
      await countFreeUse(tx, job.user_id, use);
      return 0;
    }
    const plan = job.input as ImagePlan;
    const { spent, save } = await settling(tx, job.hold_id, priceOf(plan.price, delivered), {
      ...use,
      human: excerptOf(plan.human || job.title),
    });
    await save();
    return spent;
  };

  /** Stores the images with their message, if they have one, and takes what they cost. */
  const deliver = async (tx: Transaction, job: ClaimedJob, painted: Painted): Promise<number> => {
    const plan = job.input as ImagePlan;
    const { channel, result } = painted;
    const remote =
      result.remote === null ? null : { channelId: channel.channelId, remote: result.remote };
    const place = await belonging(tx, job, painted);
    const parentId = await parentOf(tx, job);
    const rows = await store.insertImages(
      tx,
      painted.images.flatMap(({ kept }) =>
        kept
          ? [
              {
                userId: job.user_id,
                jobId: job.id,
                origin: edits.has(plan.task) ? ('edited' as const) : ('drawn' as const),
                parentId,
                how: parentId === null ? ('' as const) : plan.task,
                ...kept,
                model: job.model,
                prompt: painted.prompt,
                ...place,
                parameters: keptParameters(plan.parameters),
                remote,
              },
            ]
          : [],
      ),
    );
    if (ofImage(job) || ofAccount(job)) return charge(tx, job, rows.length, channel.channelId);
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const images = painted.images.map(({ kept, error }): MadeImage => {
      const row = kept && byKey.get(kept.key);
      return {
        id: row?.id ?? 0,
        uuid: row?.uuid ?? '',
        url: kept ? `/files/${kept.key}.png` : '',
        width: kept?.width ?? 0,
        height: kept?.height ?? 0,
        seed: kept?.seed ?? null,
        error,
      };
    });
    const reply: ImageReply = {
      images,
      actions: result.actions,
      prompt: painted.prompt,
      revised_prompt: result.revisedPrompt,
      engine: channel.label,
      parameters: keptParameters(plan.parameters),
      ...painted.size,
      ...(result.unread?.length ? { unread: [...result.unread] } : {}),
    };
    const spent = await charge(tx, job, rows.length, channel.channelId);
    await finishImages(tx, placeOf(job), { state: 'done', reply, deductTokens: spent });
    return spent;
  };

  const images: JobWork<Painted> = {
    kind: 'image',
    livesMs: imageLivesMs,
    words: {
      name: '画图',
      failed: '没有画成',
      done: async (executor, ids) =>
        new Map(
          [...(await store.countOfJobs(executor, ids))].map(([id, n]) => [id, `${n} 张图片画好了`]),
        ),
      url: (id) => `/image/private?image_id=${id}`,
    },
    work,
    discard: ({ images }) => drop(images.flatMap(({ kept }) => (kept ? [kept.key] : []))),
    clear,
    finish: async (tx, job, end) => {
      if (end.state === 'error')
        await noteFailedUse(tx, job.user_id, { type: sessionTypes.image, model: job.model });
      if (ofImage(job) || ofAccount(job)) {
        if (end.state === 'done')
          return { state: 'done', deductTokens: await deliver(tx, job, end.result) };
        if (job.hold_id !== null) await release(tx, job.hold_id);
        return { state: end.state, deductTokens: 0 };
      }
      return endMade(tx, job, end, {
        deliver: (result) => deliver(tx, job, result),
        charge: ({ images, channel }) =>
          charge(tx, job, images.filter(({ kept }) => kept).length, channel.channelId),
      });
    },
  };
  // What it made goes through the worker unread.
  return images as JobWork<unknown>;
};
