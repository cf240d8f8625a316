import { codes } from '#contract/errors.ts';
import type { ImageWords } from '#contract/image-prompt.ts';
import { waiterOf } from '#server/db/person.ts';
import type { ImageOrder, Reference } from '#server/engines/image-engine.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { JobError, type ClaimedJob, type JobIo } from '#server/jobs/job-kind.ts';
import { profilesOf } from '../train/styles.service.ts';
import type { Done, ImageWorkDeps } from './image-job.ts';
import { engineTask, promptOf, type ImagePlan } from './image-plan.ts';
import * as store from './image.store.ts';

type Deps = Pick<ImageWorkDeps, 'db' | 'files' | 'publicUrl'>;

/** An image for somebody's order. @throws JobError address_unreachable */
const opener =
  ({ files }: Deps, owner: Waiter, signal: AbortSignal) =>
  async (url: string) => {
    const image = await files.imageAt(url, signal, owner);
    signal.throwIfAborted();
    if (!image)
      throw new JobError('address_unreachable', codes.address_unreachable.text, {
        retriable: false,
      });
    return image;
  };

/** Where others find an image; empty: this server does not know how they reach it. */
const addressOf = (publicUrl: string, url: string): string => {
  if (!url.startsWith('/')) return url;
  return publicUrl === '' ? '' : `${publicUrl}${url}`;
};

/**
 * The order without the name of a model, with all images that it needs.
 * @throws JobError address_unreachable
 */
export const orderOf = async (
  deps: Deps,
  plan: ImagePlan,
  { words, userId, signal }: { words: ImageWords; userId: number; signal: AbortSignal },
) => {
  const { parameters, control } = plan;
  const open = opener(deps, await waiterOf(deps.db, userId), signal);
  const base = plan.baseImage === '' ? null : await open(plan.baseImage);
  const all = async (references: { url: string }[] = []): Promise<Reference[]> => {
    const images = [];
    for (const { url } of references) {
      const { data } = await open(url);
      images.push({ data, address: addressOf(deps.publicUrl, url) });
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
      image: (await open(control.url)).data,
      module: control.module,
      model: control.model,
      mode: control.mode,
    },
    references: { character: await all(parameters.cref), style: await all(parameters.sref) },
    blend: plan.task === 'blend' ? (await all(parameters.blend)).map(({ data }) => data) : [],
    background: parameters.bg_image ? (await open(parameters.bg_image)).data : null,
    remote: plan.source?.remote ?? null,
    profiles: await profilesOf(
      deps.db,
      (parameters.lora ?? []).map(({ key }) => key),
      userId,
    ),
  } satisfies Omit<ImageOrder, 'model'>;
};

/**
 * The words as the service gets them, translated and paid once however often they are tried, in this
 * job and in those that follow it. Free pictures are drawn without tokens: from the words as they are.
 * @throws JobError
 */
export const wordsFor = async (
  { db, translate }: Pick<ImageWorkDeps, 'db' | 'translate'>,
  plan: ImagePlan,
  job: ClaimedJob,
  { done, io }: { done: Done; io: JobIo },
): Promise<ImageWords> => {
  if (!plan.translate || plan.words.prompt === '') return plan.words;
  done.english ??= await store.earlierEnglish(db, job, plan);
  if (done.english === undefined) {
    const { model, guest } = plan.translate;
    try {
      const { result, tokens } = await translate({ id: job.user_id, guest }, plan.words.prompt, {
        into: 'english',
        ...(model === '' ? {} : { model }),
      });
      done.english = result;
      done.englishTokens = tokens;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.codeName === 'balance' && job.hold_id === null) return plan.words;
      const retriable = error.codeName === 'engine_failed';
      throw new JobError(error.codeName, `翻译没有成功：${error.message}`, { retriable });
    }
    // Kept whatever happens to the job: it is paid.
    await io.remember(done);
    io.signal.throwIfAborted();
  }
  return { ...plan.words, prompt: done.english };
};

/** What a failure says of a translation that was paid. */
export const tookAllTheSame = ({ english, englishTokens = 0 }: Done): string | null =>
  english === undefined || englishTokens === 0
    ? null
    : `图片没有扣费，翻译用了 ${englishTokens} tokens，译文已保留，重试不再收翻译费`;
