import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { In } from '#contract/calls.ts';
import type { Job } from '#contract/job.ts';
import type { MadeVideo } from '#contract/video.ts';
import type { TestClient } from './client.ts';
import { ended, messageOf, type Sent } from './images.ts';

/** An uploaded image with something to see in it; gives its address. */
export const uploadBase = async (
  client: TestClient,
  width = 320,
  height = 240,
): Promise<string> => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="60%" fill="#9cf"/><rect y="60%" width="100%" height="40%" fill="#363"/><circle cx="50%" cy="70%" r="40" fill="#c22"/></svg>`;
  const data = await sharp(Buffer.from(svg)).png().toBuffer();
  const file = new Blob([new Uint8Array(data)], { type: 'image/png' });
  return (await client.upload('uploadImage', file, 'base.png')).image.url;
};

/** Sends what is to be filmed, in a new session unless one is given. */
export const sendFilm = async (
  client: TestClient,
  options: {
    uuid?: string;
    model?: string;
    base?: string;
    prompt?: string;
    isPrivate?: 0 | 1;
  } = {},
): Promise<Sent> => {
  const { model, isPrivate = 1 } = options;
  const uuid =
    options.uuid ??
    (
      await client.call('newSession', {
        type: 4,
        private: isPrivate,
        ...(model === undefined ? {} : { model }),
      })
    ).uuid;
  const { id } = await client.call('sendMessage', {
    session_id: uuid,
    msg: JSON.stringify({
      prompt: options.prompt ?? '湖边的小屋',
      type: 'img2video',
      app: '',
      base_image: options.base ?? (await uploadBase(client)),
      parameters: { cfg_scale: 2, motion_bucket_id: 127 },
    }),
    format: 1,
  });
  return { uuid, historyId: id };
};

export const generateFilm = async (
  client: TestClient,
  historyId: number,
  more: Partial<In<'generateVideo'>> = {},
): Promise<Job> =>
  (await client.call('generateVideo', { history_id: historyId, request_id: randomUUID(), ...more }))
    .job;

/** Sends, films and waits; gives the job and the films of the message. */
export const makeFilm = async (
  client: TestClient,
  options: Parameters<typeof sendFilm>[1] = {},
): Promise<{ sent: Sent; job: Job; films: MadeVideo[] }> => {
  const sent = await sendFilm(client, options);
  const begun = await generateFilm(client, sent.historyId);
  const job = await ended(client, begun.uuid);
  const { ai } = await messageOf(client, sent);
  return { sent, job, films: ai === '' ? [] : (JSON.parse(ai) as MadeVideo[]) };
};

export const until = async (what: string, holds: () => boolean | Promise<boolean>, ms = 20_000) => {
  for (let waited = 0; waited < ms; waited += 50) {
    if (await holds()) return;
    await sleep(50);
  }
  throw new Error(`it never came to this: ${what}`);
};
