import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { In, Out } from '#contract/calls.ts';
import type { ImageRequest, Message } from '#contract/chat.ts';
import { imageReply, type ImageReply, type ImageTask } from '#contract/image.ts';
import type { Job, JobEvent } from '#contract/job.ts';
import { requestOf, type TestClient } from './client.ts';

export interface Sent {
  uuid: string;
  historyId: number;
}

/** A session of pictures. */
export const newPictures = (client: TestClient, model?: string) =>
  client.call('newSession', { type: 1, ...(model === undefined ? {} : { model }) });

/**
 * The built-in canvas draws 1024 pixels square unless told otherwise, which takes a second of the
 * processor: to a server's test a sixteenth of that shows as much. Browsers are shown the usual size.
 */
const quickSize = process.env['VITEST'] ? { size: 0 } : {};

/** Sends what is to be painted, in a new session unless one is given. */
export const sendPicture = async (
  client: TestClient,
  prompt: string,
  options: {
    uuid?: string;
    model?: string;
    task?: ImageTask;
    image?: Partial<ImageRequest>;
  } = {},
): Promise<Sent> => {
  const uuid = options.uuid ?? (await newPictures(client, options.model)).uuid;
  const isCanvas = options.uuid === undefined && options.model === undefined;
  const image = { n: 1, ...(isCanvas ? quickSize : {}), ...options.image };
  const { id } = await client.call('sendMessage', {
    session_id: uuid,
    msg: JSON.stringify({ type: options.task ?? 'txt2img', prompt, image }),
    format: 1,
  });
  return { uuid, historyId: id };
};

export const generate = async (
  client: TestClient,
  historyId: number,
  more: Partial<In<'generateImage'>> = {},
): Promise<Job> => {
  const { job } = await client.call('generateImage', {
    history_id: historyId,
    request_id: randomUUID(),
    ...more,
  });
  return job;
};

/** Waits until a job has ended. */
export const ended = async (client: TestClient, uuid: string, ms = 30_000): Promise<Job> => {
  for (let waited = 0; waited < ms; waited += 150) {
    // A failed one is told of with a code of its own.
    const { data } = await client.raw<Out<'imageProgress'>>('imageProgress', { request_id: uuid });
    const { job } = data;
    if (job.finished_at !== null) return job;
    await sleep(150);
  }
  throw new Error(`job ${uuid} does not end`);
};

export const messageOf = async (client: TestClient, sent: Sent): Promise<Message> => {
  const page: Out<'historyList'> = await client.call('historyList', {
    session_id: sent.uuid,
    id: sent.historyId,
  });
  const [message] = page.list;
  if (!message) throw new Error('the message is gone');
  return message;
};

export const replyOf = (message: Message): ImageReply => imageReply.parse(message.made);

/** Sends, paints and waits; gives the job and the message at the end. */
export const paint = async (
  client: TestClient,
  prompt: string,
  options: Parameters<typeof sendPicture>[2] & { generate?: Partial<In<'generateImage'>> } = {},
) => {
  const sent = await sendPicture(client, prompt, options);
  // The price of the picture alone.
  const begun = await generate(client, sent.historyId, { translate: 0, ...options.generate });
  const job = await ended(client, begun.uuid);
  return { sent, begun, job, message: await messageOf(client, sent) };
};

/** Follows one's jobs until `enough` says so; gives all events. */
export const followJobs = async (
  client: TestClient,
  enough: (event: JobEvent, all: readonly JobEvent[]) => boolean,
  { onOpen, signal }: { onOpen?: () => void; signal?: AbortSignal } = {},
): Promise<JobEvent[]> => {
  const stop = new AbortController();
  const { url } = requestOf('jobEvents', {});
  const response = await fetch(client.baseURL + url, {
    headers: client.headers(),
    signal: signal ? AbortSignal.any([stop.signal, signal]) : stop.signal,
  });
  if (!response.ok) throw new Error(`job_events: ${response.status}`);
  onOpen?.();
  const events: JobEvent[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of response.body!) {
      rest += decoder.decode(chunk, { stream: true });
      for (let cut = rest.indexOf('\n\n'); cut >= 0; cut = rest.indexOf('\n\n')) {
        const line = rest.slice(0, cut);
        rest = rest.slice(cut + 2);
        if (!line.startsWith('data: ')) continue;
        const event = JSON.parse(line.slice(6)) as JobEvent;
        events.push(event);
        if (enough(event, events)) stop.abort();
      }
    }
  } catch (error) {
    if (!stop.signal.aborted && !signal?.aborted) throw error;
  }
  return events;
};
