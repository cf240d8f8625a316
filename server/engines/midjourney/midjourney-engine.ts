import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { ImageAbility } from '../../../contract/image.ts';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';
import {
  type ImageEngine,
  ImageEngineError,
  type ImageIo,
  type ImageOrder,
  type ImageResult,
  type EngineImage,
  noChoices,
  type Reference,
} from '../image-engine.ts';
import { ask, jsonOf, refusedBy, senselessReply, slowService, unsuitable } from '../image-wire.ts';
import { createImageFetch, dataUrl, drawMask, exactly, made, measure } from '../image-pixels.ts';
import { type Silence, usualSilence, watchSilence } from '../silence.ts';
import { actionsOf, asksFor, changeOf, isGrid, mostZoom, plainActions } from './buttons.ts';
import { quartersOf } from './grid.ts';
import { timeLimit } from '../../net/time-limit.ts';

export const midjourneyAbilities: readonly ImageAbility[] = [
  'text-to-image',
  'image-to-image',
  'interrogate',
  'seed',
  'references',
  'blend',
];

export interface MidjourneyOptions {
  /** Such as `http://127.0.0.1:8080`; the calls lie below `/mj` there unless it ends so. */
  baseUrl: string;
  /** Sent as `mj-api-secret`; empty: none. */
  secret: string;
  fetch: GuardedFetch;
  /** How often a work is asked for at first and later on, ms. */
  pollMs?: { first: number; longest: number };
  silence?: Silence;
}

/** What the service says to an order. */
const codes = { taken: 1, there: 21, queued: 22, full: 23, banned: 24 } as const;
const submitted = z.looseObject({
  code: z.int(),
  result: z.nullish(z.union([z.string(), z.number()])),
});
const uploaded = z.looseObject({ code: z.int(), result: z.array(z.string()) });

const states = [
  'NOT_START',
  'SUBMITTED',
  'IN_PROGRESS',
  'MODAL',
  'FAILURE',
  'SUCCESS',
  'CANCEL',
] as const;
const task = z.looseObject({
  status: z.nullish(z.enum(states)),
  action: z.nullish(z.string()),
  progress: z.nullish(z.string()),
  imageUrl: z.nullish(z.string()),
  failReason: z.nullish(z.string()),
  properties: z.nullish(z.record(z.string(), z.unknown())),
  buttons: z.nullish(
    z.array(
      z.looseObject({
        customId: z.string(),
        emoji: z.nullish(z.string()),
        label: z.nullish(z.string()),
      }),
    ),
  ),
});
type Task = z.output<typeof task>;

const remembered = z.object({
  task: z.string(),
  /** One image alone will come of it. */
  single: z.optional(z.boolean()),
  /** What it wants confirmed is confirmed. */
  confirmed: z.optional(z.boolean()),
});
type Remembered = z.output<typeof remembered>;

const failed = (message: string, retriable: boolean, askerAtFault = false): ImageEngineError =>
  new ImageEngineError('engine_failed', message, { retriable, askerAtFault });
const full = (): ImageEngineError =>
  new ImageEngineError('engine_failed', 'Midjourney 的队列已满，没有扣费，请稍后重试', {
    retriable: true,
    busy: true,
  });
const banned = (): ImageEngineError =>
  new ImageEngineError(
    'prompt_banned',
    '提示词里有 Midjourney 不允许的内容，没有扣费，请修改后再试',
    {
      retriable: false,
      askerAtFault: true,
    },
  );

/** How Midjourney titles a refusal: what stands in brackets before its reason. */
const titleOf = (reason: string): string =>
  /^\[([^\]]{1,60})\]/.exec(reason)?.[1]?.toLowerCase() ?? '';
const bannedTitles = new Set([
  'banned prompt',
  'banned prompt detected',
  'blocked',
  'action needed to continue',
  'sorry! our ai moderators are unsure about this prompt',
]);
const wrongTitles = new Set([
  'invalid parameter',
  'invalid link',
  'invalid request',
  'empty prompt',
]);
const fullTitles = new Set(['queue full', 'job queued', 'slow down!']);

const whyItFailed = (reason: string): ImageEngineError => {
  const title = titleOf(reason);
  if (bannedTitles.has(title)) return banned();
  if (wrongTitles.has(title))
    return new ImageEngineError(
      'job_unsuitable',
      'Midjourney 不接受其中的参数，没有扣费，请修改后再试',
      {
        retriable: false,
        askerAtFault: true,
      },
    );
  if (fullTitles.has(title)) return full();
  return failed('Midjourney 没有画成，没有扣费，请重试', true);
};

/** What a button's work is told in its window. @throws ImageEngineError: it was not said */
const answerTo = async (
  asks: 'region' | 'zoom',
  { prompt, parameters, width, height }: ImageOrder,
): Promise<{ prompt: string; maskBase64?: string }> => {
  if (asks === 'zoom') {
    const zoom = (parameters.zoom ?? mostZoom) / 100;
    return { prompt: `${prompt} --zoom ${zoom}` };
  }
  const { mask, brush, brush_inverted } = parameters;
  if (!mask) throw unsuitable('请先框选要重画的区域');
  const drawn = await drawMask({ width, height }, { mask, brush, brush_inverted }, 'white');
  return { prompt, maskBase64: dataUrl(drawn) };
};

/** How two or more images are put together, by the aspect that was chosen. */
const dimensionsOf = ({ parameters }: ImageOrder): 'LANDSCAPE' | 'PORTRAIT' | 'SQUARE' => {
  const [width = 1, height = 1] = (parameters.aspect ?? '1:1').split(':').map(Number);
  if (width === height) return 'SQUARE';
  return width > height ? 'LANDSCAPE' : 'PORTRAIT';
};

const percent = (text: string | null | undefined): number => {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value / 100)) : 0;
};

/** The first of the numbered descriptions, without its number and its aspect ratio. */
const firstDescription = (value: unknown): string => {
  if (typeof value !== 'string') return '';
  const [first = ''] = value
    .split(/\n+/)
    .map((line) =>
      line
        .replace(/^\s*(?:\d\uFE0F?\u20E3|\d+[.、])\s*/u, '')
        .replace(/\s--ar\s+\S+/g, '')
        .trim(),
    )
    .filter((line) => line !== '');
  return first.slice(0, 4000);
};

/** novicezk's midjourney-proxy, its plus dialect, and the services that speak as they do. */
export const createMidjourneyEngine = (options: MidjourneyOptions): ImageEngine => {
  const base = new URL(options.baseUrl);
  const folder = base.pathname.replace(/\/+$/, '');
  const below = folder.endsWith('/mj') ? folder : `${folder}/mj`;
  const poll = options.pollMs ?? { first: 500, longest: 4000 };
  const headers: Record<string, string> =
    options.secret === '' ? {} : { 'mj-api-secret': options.secret };
  const fetchImage = createImageFetch(base, options.fetch, headers);

  const address = (path: string): URL => {
    const url = new URL(base);
    url.pathname = `${below}/${path}`;
    return url;
  };

  /** @throws ImageEngineError */
  const call = async (path: string, signal: AbortSignal, json?: unknown): Promise<unknown> => {
    const reply = await ask(address(path), {
      method: json === undefined ? 'GET' : 'POST',
      headers,
      json,
      signal,
    });
    if (reply.status !== 200) throw refusedBy(reply.status);
    const answer = jsonOf(reply.body);
    if (answer === null) throw senselessReply();
    return answer;
  };

  /** Gives the number of the work. @throws ImageEngineError */
  const submit = async (kind: string, body: unknown, signal: AbortSignal): Promise<string> => {
    const answer = submitted.safeParse(await call(`submit/${kind}`, signal, body));
    if (!answer.success) throw senselessReply(answer.error);
    const { code, result } = answer.data;
    if (code === codes.full) throw full();
    if (code === codes.banned) throw banned();
    const known: readonly number[] = [codes.taken, codes.there, codes.queued];
    const id = String(result ?? '');
    if (!known.includes(code)) throw failed('Midjourney 没有接受这次请求，没有扣费，请重试', true);
    if (!/^[\w-]{1,100}$/.test(id)) throw senselessReply();
    return id;
  };

  const read = async (id: string, signal: AbortSignal): Promise<Task> => {
    const answer = task.safeParse(await call(`task/${encodeURIComponent(id)}/fetch`, signal));
    if (!answer.success) throw senselessReply(answer.error);
    return answer.data;
  };

  /** Not every dialect can be told; true: it was, and takes the work back. */
  const cancel = async (id: string): Promise<boolean> => {
    const path = `task/${encodeURIComponent(id)}/cancel`;
    const answer = await call(path, AbortSignal.timeout(4000), {}).catch(() => null);
    const said = submitted.safeParse(answer);
    return said.success && said.data.code === codes.taken;
  };

  /** Asks until the work is done. A passing fault of the network is lived through. */
  const watched = async (
    work: Remembered,
    io: ImageIo,
    prompt: string,
    { stands, waits }: Pick<ReturnType<typeof watchSilence>, 'stands' | 'waits'>,
  ): Promise<Task> => {
    const { task: id } = work;
    let pause = poll.first;
    let faults = 0;
    let highest = 0;
    let seen = '';
    let confirmed = work.confirmed === true;
    for (;;) {
      await sleep(pause, undefined, { signal: io.signal });
      pause = Math.min(poll.longest, pause * 1.3);
      let now: Task;
      try {
        now = await read(id, io.signal);
        faults = 0;
      } catch (error) {
        io.signal.throwIfAborted();
        faults += 1;
        if (faults >= 5) throw error;
        continue;
      }
      switch (now.status) {
        case 'SUCCESS':
          return now;
        case 'FAILURE':
          throw whyItFailed(now.failReason ?? '');
        case 'CANCEL':
          throw failed('Midjourney 取消了这次作画，没有扣费，请重试', true);
        case 'MODAL':
          // It wants the words confirmed, once.
          if (!confirmed) await submit('modal', { taskId: id, prompt }, io.signal);
          confirmed = true;
          break;
        case 'NOT_START':
        case 'SUBMITTED':
        case 'IN_PROGRESS':
        case null:
        case undefined:
      }
      if (now.status === 'NOT_START') waits();
      else if (now.status === 'IN_PROGRESS' || now.status === 'MODAL')
        stands(`${now.status} ${now.progress ?? ''}`);
      highest = Math.max(highest, percent(now.progress));
      const url = now.imageUrl ?? '';
      let preview: Buffer | null = null;
      if (url !== '' && url !== seen && now.status === 'IN_PROGRESS') {
        seen = url;
        preview = await fetchImage(url, io.signal);
        if (preview !== null && (await measure(preview)) === null) preview = null;
      }
      io.progress(highest * 0.95, preview ?? undefined);
    }
  };

  /** The same, and gives it up where the service tells nothing new for too long. */
  const wait = async (work: Remembered, io: ImageIo, prompt: string): Promise<Task> => {
    const watch = watchSilence(io.signal, options.silence ?? usualSilence);
    try {
      return await watched(work, { ...io, signal: watch.signal }, prompt, watch);
    } catch (error) {
      if (!watch.silent) throw error;
      await cancel(work.task);
      throw slowService(error);
    } finally {
      watch.end();
    }
  };

  /**
   * Addresses for images that the prompt can only name: the service's own, or where the dialect
   * takes no images, those by which Midjourney finds them itself. @throws ImageEngineError
   */
  const addressesOf = async (
    images: readonly Reference[],
    signal: AbortSignal,
  ): Promise<string[]> => {
    if (images.length === 0) return [];
    const answer = await call('submit/upload-discord-images', signal, {
      base64Array: images.map(({ data }) => dataUrl(data)),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof ImageEngineError)) throw error;
      return null;
    });
    const parsed = uploaded.safeParse(answer);
    const taken = parsed.success && parsed.data.code === codes.taken;
    const addresses = taken ? parsed.data.result : images.map(({ address }) => address);
    const usable = addresses.every((url) => /^https?:\/\/[^\s"'<>]{1,2000}$/.test(url));
    if (taken && (!usable || addresses.length !== images.length)) throw senselessReply();
    if (!usable)
      throw unsuitable(
        '这个 Midjourney 服务不能接收上传的参考图：请改用公网上的图片网址，或去掉参考图再试',
      );
    return addresses;
  };

  /** Does what a button of a work asks for, with what the person said to it. */
  const press = async (wanted: ImageOrder, signal: AbortSignal): Promise<Remembered> => {
    const from = remembered.safeParse(wanted.remote);
    const hash = wanted.parameters.action?.hash ?? '';
    if (!from.success || hash === '') throw unsuitable('这个操作已经不能用了，请重新作画');
    const change = changeOf(hash);
    if (change)
      return {
        task: await submit('change', { taskId: from.data.task, ...change }, signal),
        single: change.action === 'UPSCALE',
      };
    const asks = asksFor(hash);
    const said = asks && (await answerTo(asks, wanted));
    const taskId = await submit('action', { taskId: from.data.task, customId: hash }, signal);
    if (!said) return { task: taskId };
    return { task: await submit('modal', { taskId, ...said }, signal), confirmed: true };
  };

  /** Orders the work. Whether one image alone comes of it is told where the dialect does not. */
  const order = async (wanted: ImageOrder, io: ImageIo): Promise<Remembered> => {
    const { signal } = io;
    const { character, style } = wanted.references;
    if (wanted.task === 'action') return press(wanted, signal);
    if (wanted.task !== 'generate') throw unsuitable('Midjourney 不能这样修改图片');
    const words = wanted.prompt.replace(/(^|\s)--.*$/s, '').trim();
    if (words === '' && wanted.blend.length > 0) {
      const body = { base64Array: wanted.blend.map(dataUrl), dimensions: dimensionsOf(wanted) };
      return { task: await submit('blend', body, signal) };
    }
    const addresses = await addressesOf([...character, ...style], signal);
    const listed = (flag: string, urls: readonly string[]) =>
      urls.length > 0 ? ` --${flag} ${urls.join(' ')}` : '';
    const weighs =
      wanted.base !== null && wanted.strength !== 50 && !/\s--iw\s/.test(wanted.prompt);
    const prompt = [
      wanted.prompt,
      // How much is changed, the other way round: 50 % is Midjourney's own weight of 1.
      weighs ? ` --iw ${(2 - wanted.strength / 50).toFixed(2)}` : '',
      listed('cref', addresses.slice(0, character.length)),
      listed('sref', addresses.slice(character.length)),
    ].join('');
    const body = {
      prompt,
      // With words, images to be made into one are what Midjourney calls image prompts.
      base64Array: [...(wanted.base === null ? [] : [wanted.base]), ...wanted.blend].map(dataUrl),
      state: '',
      notifyHook: '',
    };
    return { task: await submit('imagine', body, signal) };
  };

  /** What an earlier worker ordered and may still come to something; null: there is nothing. */
  const takenOver = async (io: ImageIo): Promise<Remembered | null> => {
    const earlier = remembered.safeParse(io.resume);
    if (!earlier.success) return null;
    const path = `task/${encodeURIComponent(earlier.data.task)}/fetch`;
    const reply = await ask(address(path), { headers, signal: io.signal });
    // A work that is not known is answered with 404, or with nothing or `null` for an answer.
    if (reply.status === 404 || (reply.status === 200 && jsonOf(reply.body) === null)) return null;
    const now = reply.status === 200 ? task.safeParse(jsonOf(reply.body)) : null;
    const ended = now?.success === true && ['FAILURE', 'CANCEL'].includes(now.data.status ?? '');
    return ended ? null : earlier.data;
  };

  const collect = async (
    done: Task,
    { task: id, single }: Remembered,
    n: number,
    io: ImageIo,
  ): Promise<ImageResult> => {
    const image =
      typeof done.imageUrl === 'string' && done.imageUrl !== ''
        ? await fetchImage(done.imageUrl, io.signal)
        : null;
    if (image === null) throw failed('Midjourney 画好的图片取不到，没有扣费，请重试', true);
    const buttons = done.buttons ?? [];
    const one = buttons.length > 0 ? !isGrid(buttons) : (single ?? done.action === 'UPSCALE');
    const quarters = one ? null : await quartersOf(image);
    let images: EngineImage[];
    if (one) images = [await made(image, null)];
    else if (quarters === null) images = exactly([await made(null, null)], 1);
    else
      images = exactly(
        quarters.map((data) => ({ data, error: '', seed: null })),
        Math.min(4, Math.max(1, n)),
      );
    const words = done.properties?.['finalPrompt'];
    return {
      images,
      actions: buttons.length > 0 ? actionsOf(buttons) : one ? [] : [...plainActions],
      revisedPrompt: typeof words === 'string' ? words.slice(0, 4000) : '',
      remote: { task: id },
    };
  };

  return {
    abilities: midjourneyAbilities,
    // The service has a queue of its own; this only keeps it from being filled up.
    concurrency: 10,

    async run(wanted, io) {
      const earlier = await takenOver(io);
      const ordering = earlier ? Promise.resolve(earlier) : order(wanted, io);
      const over = io.sent(async () => cancel((await ordering).task));
      let work = earlier;
      try {
        work = await ordering;
        if (!earlier) await io.remember(work);
        return await collect(await wait(work, io, wanted.prompt), work, wanted.n, io);
      } catch (error) {
        over();
        if (io.signal.aborted && work) await cancel(work.task);
        io.signal.throwIfAborted();
        throw error;
      }
    },

    choices: () => Promise.resolve(noChoices),

    detect: () => Promise.reject(unsuitable('Midjourney 没有构图控制')),

    async interrogate({ image }, signal) {
      const until = AbortSignal.any([signal, timeLimit(120_000)]);
      const id = await submit('describe', { base64: dataUrl(image) }, until);
      const io: ImageIo = {
        signal: until,
        progress: () => {},
        remember: () => Promise.resolve(),
        stopped: until,
        sent: () => () => {},
        resume: null,
      };
      const done = await wait({ task: id }, io, '');
      const text = firstDescription(done.properties?.['finalPrompt']);
      if (text === '') throw senselessReply();
      return { text, chinese: firstDescription(done.properties?.['finalZhPrompt']) };
    },
  };
};
