import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen, reply, type FakeService } from './fake-service.ts';
import { pairOf } from './meaning.ts';

/** One request as it came: the fields of a form, or the JSON. */
export interface MediaAsked {
  path: string;
  authorization: string;
  fields: Record<string, string>;
  file: Buffer | null;
}

export interface MediaService extends FakeService {
  asked: MediaAsked[];
  /** How often a film is asked for before it is there. */
  rounds: number;
  /** Replies that go on in the place of the usual ones. */
  behave: (act: ((response: ServerResponse, asked: MediaAsked) => Promise<boolean>) | null) => void;
  /** What recognition says. */
  words: string;
  /** What is given as a film and as speech. */
  film: Buffer;
  speech: Buffer;
  /** Keys that are let in; empty: all. */
  keys: string[];
  /** What it lists as its models. */
  models: string[];
}

const inputs = (input: string): string[] =>
  input.startsWith('[') ? (JSON.parse(input) as string[]) : [input];

/** It knows what models are measured with; all else is one to it. */
const vectorOf = (text: string): number[] => {
  const pair = pairOf(text);
  return pair === undefined
    ? [0.6, 0.8]
    : [Math.cos((pair * Math.PI) / 4), Math.sin((pair * Math.PI) / 4)];
};

const readForm = async (
  request: IncomingMessage,
): Promise<Omit<MediaAsked, 'path' | 'authorization'>> => {
  const body = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/json')) {
    const json = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    const fields = Object.fromEntries(
      Object.entries(json).map(([name, value]) => [
        name,
        Array.isArray(value) ? JSON.stringify(value) : String(value),
      ]),
    );
    return { fields, file: null };
  }
  if (!type.startsWith('multipart/')) return { fields: {}, file: null };
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': type },
  }).formData();
  const fields: Record<string, string> = {};
  let file: Buffer | null = null;
  for (const [name, value] of form.entries())
    if (typeof value === 'string') fields[name] = value;
    else file = Buffer.from(await value.arrayBuffer());
  return { fields, file };
};

/**
 * Services at their wire: OpenAI's `/v1/models`, `/v1/audio/speech`, `/v1/audio/transcriptions`, `/v1/embeddings`,
 * `/v1/videos` (create, state, content) and Stability's `/v1/user/balance` and
 * `/v2beta/image-to-video` (start, result).
 * Sources: platform.openai.com/docs/api-reference/{audio,videos}, platform.stability.ai/docs.
 */
export const startMediaService = async (): Promise<MediaService> => {
  let behaviour: Parameters<MediaService['behave']>[0] = null;
  const looks = new Map<string, number>();
  let made = 0;
  const begun = () => {
    made += 1;
    return `film_${made}`;
  };
  const ready = (id: string): boolean => {
    const times = (looks.get(id) ?? 0) + 1;
    looks.set(id, times);
    return times > service.rounds;
  };
  const binary = (response: ServerResponse, mime: string, data: Buffer) => {
    response.writeHead(200, { 'content-type': mime, 'content-length': data.length });
    response.end(data);
  };
  const base = await listen(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const asked = {
      path: `${request.method} ${path}`,
      authorization: request.headers.authorization ?? '',
      ...(await readForm(request)),
    };
    service.asked.push(asked);
    if (behaviour && (await behaviour(response, asked))) return;
    const [, film] = /^\/v1\/videos\/([\w-]+)$/.exec(path) ?? [];
    const [, content] = /^\/v1\/videos\/([\w-]+)\/content$/.exec(path) ?? [];
    const [, result] = /^\/v2beta\/image-to-video\/result\/([\w-]+)$/.exec(path) ?? [];
    const [, key = ''] = /^Bearer (.+)$/.exec(asked.authorization) ?? [];
    if (service.keys.length > 0 && !service.keys.includes(key))
      reply(response, 401, { error: { message: 'no such key', code: 'invalid_api_key' } });
    else if (path === '/v1/models')
      reply(response, 200, { data: service.models.map((id) => ({ id, object: 'model' })) });
    else if (path === '/v1/user/balance') reply(response, 200, { credits: 12.5 });
    else if (path === '/v1/audio/speech') binary(response, 'audio/mpeg', service.speech);
    else if (path === '/v1/audio/transcriptions') reply(response, 200, { text: service.words });
    else if (path === '/v1/embeddings')
      reply(response, 200, {
        object: 'list',
        model: asked.fields['model'],
        data: inputs(asked.fields['input'] ?? '').map((text, index) => ({
          object: 'embedding',
          index,
          embedding: vectorOf(text),
        })),
        usage: { prompt_tokens: 40, total_tokens: 40 },
      });
    else if (path === '/v1/videos' && request.method === 'POST')
      reply(response, 200, { id: begun(), object: 'video', status: 'queued', progress: 0 });
    else if (film) {
      const done = ready(film);
      const progress = done ? 100 : 40;
      reply(response, 200, { id: film, status: done ? 'completed' : 'in_progress', progress });
    } else if (content) binary(response, 'video/mp4', service.film);
    else if (path === '/v2beta/image-to-video') reply(response, 200, { id: begun() });
    else if (result) {
      if (ready(result)) binary(response, 'video/mp4', service.film);
      else reply(response, 202, { id: result, status: 'in-progress' });
    } else reply(response, 404, { error: { message: 'no such call' } });
  });
  const service: MediaService = {
    ...base,
    asked: [],
    rounds: 1,
    words: '今天天气很好',
    film: Buffer.alloc(0),
    speech: Buffer.alloc(0),
    keys: [],
    models: [],
    behave: (act) => {
      behaviour = act;
    },
  };
  return service;
};
