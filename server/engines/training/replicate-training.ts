import { setTimeout as pause } from 'node:timers/promises';
import { zipSync } from 'fflate';
import { Agent, FormData, request } from 'undici';
import * as z from 'zod/mini';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import { TrainingError, type TrainingEngine } from './training-engine.ts';

const agent = new Agent({ connect: { timeout: 10_000 }, maxResponseSize: 8 * 1024 * 1024 });

/** How often the service is asked how far it is, ms. */
const askMs = 3_000;
/** Bytes of a trained model that are kept here. */
const mostBytes = 512 * 1024 * 1024;

const uploaded = z.looseObject({ urls: z.looseObject({ get: z.string() }) });
const training = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.optional(z.nullable(z.unknown())),
  logs: z.optional(z.nullable(z.string())),
  output: z.optional(
    z.nullable(
      z.looseObject({
        version: z.optional(z.nullable(z.string())),
        weights: z.optional(z.nullable(z.string())),
      }),
    ),
  ),
});
type Training = z.output<typeof training>;

/** Steps out of lines such as ` 42%|███ | 420/1000 [`. */
const partDone = (logs: string): number => {
  const found = [...logs.matchAll(/(\d{1,3})%\|/g)].at(-1)?.[1];
  return found === undefined ? 0 : Math.min(1, Number(found) / 100);
};

/** @throws TrainingError; the signal's reason */
const ask = async <S extends z.ZodMiniType>(
  { baseUrl, token }: { baseUrl: string; token: string },
  path: string,
  answer: S,
  signal: AbortSignal,
  body?: FormData | object,
): Promise<z.output<S>> => {
  let status = 0;
  let told: unknown;
  try {
    const form = body instanceof FormData;
    const response = await request(`${baseUrl}/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      dispatcher: agent,
      signal: AbortSignal.any([signal, timeLimit(120_000)]),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && !form ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
    });
    status = response.statusCode;
    told = await response.body.json().catch(() => null);
  } catch (error) {
    signal.throwIfAborted();
    throw new TrainingError('训练服务没有回应', { retriable: true, cause: error });
  }
  if (status >= 400) {
    const words =
      status === 401 || status === 403
        ? '训练服务没有接受本站的密钥，请联系管理员'
        : status === 402
          ? '训练服务的额度已用完，请联系管理员'
          : '训练服务没有接受这次请求';
    throw new TrainingError(words, { retriable: status === 429 || status >= 500, cause: told });
  }
  const read = answer.safeParse(told);
  if (!read.success) throw new TrainingError('训练服务的回答无法读取', { retriable: true });
  return read.data;
};

/**
 * A service that speaks Replicate's trainings API: files go there as a zip, a training is made,
 * asked for until it ends, and cancelled where nobody wants it any more.
 */
export const createReplicateTraining = (service: {
  baseUrl: string;
  token: string;
  /** `owner/name:version` */
  trainer: string;
  /** `owner/name` */
  destination: string;
  fetch: GuardedFetch;
  /** How often it is asked, ms. */
  askMs?: number;
}): TrainingEngine => {
  const { trainer, destination } = service;
  const [model = '', version = ''] = trainer.split(':');
  const pathOf = (id: string): string => `trainings/${encodeURIComponent(id)}`;
  /** Whatever comes of it: nobody waits for the training any more. */
  const cancel = (id: string): Promise<unknown> =>
    ask(service, `${pathOf(id)}/cancel`, z.unknown(), timeLimit(10_000), {}).catch(() => undefined);

  return {
    label: `Replicate ${model}`,
    paid: true,
    train: async (order, io) => {
      let id = (io.resume as { training?: string } | null)?.training ?? '';
      if (id === '') {
        const files: Record<string, Uint8Array> = {};
        for (const [at, { data, txt }] of order.images.entries()) {
          const png = data[0] === 0x89;
          files[`${at + 1}.${png ? 'png' : 'jpg'}`] = new Uint8Array(data);
          if (txt !== '') files[`${at + 1}.txt`] = new TextEncoder().encode(txt);
        }
        const form = new FormData();
        const zip = Buffer.from(zipSync(files, { level: 0 }));
        form.set('content', new Blob([zip], { type: 'application/zip' }), `${order.key}.zip`);
        await io.log('正在把图片送到训练服务');
        const { urls } = await ask(service, 'files', uploaded, io.signal, form);
        const made = await ask(
          service,
          `models/${model}/versions/${version}/trainings`,
          training,
          io.signal,
          {
            destination,
            input: {
              input_images: urls.get,
              trigger_word: order.key,
              batch_size: order.batch,
              epochs: order.epochs,
              base_model: order.base,
            },
          },
        );
        ({ id } = made);
        await io.remember({ training: id });
        await io.log('训练服务已经接下');
      }
      let now: Training;
      let state = '';
      for (;;) {
        try {
          now = await ask(service, pathOf(id), training, io.signal);
        } catch (error) {
          if (io.signal.aborted) await cancel(id);
          throw error;
        }
        if (now.status !== state) {
          state = now.status;
          const words = { starting: '正在准备机器', processing: '正在训练' }[state];
          if (words) await io.log(words);
        }
        io.progress(partDone(now.logs ?? '') * 0.95);
        if (now.status === 'succeeded') break;
        if (now.status === 'failed' || now.status === 'canceled' || now.status === 'aborted') {
          await io.remember(null);
          throw new TrainingError('训练服务没有训练成功', { retriable: false, cause: now.error });
        }
        try {
          await pause(service.askMs ?? askMs, undefined, { signal: io.signal });
        } catch {
          await cancel(id);
          io.signal.throwIfAborted();
        }
      }
      const weights = now.output?.weights ?? '';
      const file =
        weights === ''
          ? null
          : await service.fetch(weights, {
              maxBytes: mostBytes,
              types: [
                'application/octet-stream',
                'application/x-tar',
                'application/zip',
                'binary/octet-stream',
                '',
              ],
              signal: io.signal,
              totalMs: 10 * 60_000,
            });
      const ending = /\.(safetensors|tar|zip)(?:$|\?)/i.exec(weights)?.[1] ?? 'bin';
      return {
        profile: null,
        artifact: file && { data: file.data, name: `${order.key}.${ending.toLowerCase()}` },
      };
    },
  };
};
