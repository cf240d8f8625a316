import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import {
  calls,
  type CallName,
  type In,
  type Out,
  type PlainCallName,
  type UploadName,
} from '#contract/calls.ts';
import type { Envelope } from '#contract/call.ts';

export interface Reply<T = unknown> extends Envelope<T> {
  status: number;
  headers: Headers;
}

export interface SseEvent {
  id: string;
  data: string;
}

/** Thousands of calls are sent in tests: this takes a third of what fetch takes of the processor. */
export const quickFetch = async (
  url: string,
  init: {
    method: 'GET' | 'POST' | 'PUT' | 'DELETE';
    headers: Record<string, string>;
    body?: string;
  },
): Promise<{ status: number; headers: Headers; text: string }> => {
  const { statusCode, headers, body } = await request(url, init);
  const named = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of [value ?? []].flat()) named.append(name, one);
  return { status: statusCode, headers: named, text: await body.text() };
};

/** Where a call goes and what it carries, as the page's client does it. */
export const requestOf = (name: CallName, input: Record<string, unknown>) => {
  const spec = calls[name];
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  const hasBody = spec.method === 'POST' || spec.method === 'PUT';
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (!hasBody || spec.kind === 'upload' || spec.inQuery.includes(key))
      query.set(key, typeof value === 'string' ? value : JSON.stringify(value));
    else body[key] = value;
  }
  const field = Object.keys((spec.input as unknown as { shape?: object }).shape ?? {})[0] ?? '';
  const named = spec.path.endsWith('/*') ? (input[field] as string) : null;
  if (named !== null) query.delete(field);
  const place =
    named === null ? spec.path : spec.path.replace('*', () => encodeURIComponent(named));
  const search = query.size > 0 ? `?${query.toString()}` : '';
  return { url: `${place}${search}`, method: spec.method, body, hasBody };
};

/** Talks to a server over HTTP like a person's app; keeps the token that answers hand out. */
export class TestClient {
  readonly baseURL: string;
  token: string;

  constructor(baseURL: string, token = '') {
    this.baseURL = baseURL;
    this.token = token;
  }

  headers(): Record<string, string> {
    return this.token ? { authorization: `Bearer ${this.token}` } : {};
  }

  async raw<T = unknown>(
    name: PlainCallName,
    input: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Reply<T>> {
    const { url, method, body, hasBody } = requestOf(name, input);
    const answer = await quickFetch(this.baseURL + url, {
      method,
      headers: {
        ...this.headers(),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
    });
    const token = answer.headers.get('authorization');
    if (token?.startsWith('Bearer ')) this.token = token.slice(7);
    const envelope = JSON.parse(answer.text) as Envelope<T>;
    return { ...envelope, status: answer.status, headers: answer.headers };
  }

  /** The call's `data`. @throws Error when the code is not 0. */
  async call<K extends PlainCallName>(
    name: K,
    input: In<K>,
    headers: Record<string, string> = {},
  ): Promise<Out<K>> {
    const reply = await this.raw<Out<K>>(name, input, headers);
    if (reply.code !== 0)
      throw new Error(`${name}: ${reply.status} ${reply.code} ${reply.message}`);
    return reply.data;
  }

  /** The `data` of a call that takes a file. @throws Error when the code is not 0 */
  async upload<K extends UploadName>(name: K, file: Blob, fileName: string): Promise<Out<K>> {
    const form = new FormData();
    form.set('file', file, fileName);
    const response = await fetch(this.baseURL + calls[name].path, {
      method: 'POST',
      headers: this.headers(),
      body: form,
    });
    const reply = (await response.json()) as Envelope<Out<K>>;
    if (reply.code !== 0)
      throw new Error(`${name}: ${response.status} ${reply.code} ${reply.message}`);
    return reply.data;
  }

  /** A fresh account's client. */
  static async register(baseURL: string, account = `u${randomUUID().slice(0, 12)}`) {
    const client = new TestClient(baseURL);
    const data = await client.call('register', {
      account,
      name: '测试用户',
      password: 'password-1',
      password2: 'password-1',
    });
    if (data.error || !data.token) throw new Error(`register: ${data.error ?? 'no token'}`);
    client.token = data.token;
    return client;
  }

  async login(account: string, password: string) {
    const data = await this.call('login', { account, password });
    if (data.error || !data.token) throw new Error(`login: ${data.error ?? 'no token'}`);
    this.token = data.token;
    return data;
  }

  /** Asks in a session (a new one when none is given). */
  async ask(msg: string, options: { model?: string; sessionId?: string } = {}) {
    const uuid =
      options.sessionId ?? (await this.call('newSession', { type: 0, model: options.model })).uuid;
    const sent = await this.call(
      'sendMessage',
      { session_id: uuid, msg },
      { 'idempotency-key': randomUUID() },
    );
    return { uuid, id: sent.id };
  }

  /** Reads a reply's events until its connection ends, or `onEvent` returns false. */
  async read(
    uuid: string,
    historyId: number,
    options: {
      lastEventId?: string;
      /** Calls of tools are told, too. */
      tools?: 1;
      signal?: AbortSignal;
      onEvent?: (event: SseEvent) => boolean | void;
    } = {},
  ): Promise<SseEvent[]> {
    const stop = new AbortController();
    const { url } = requestOf('eventStream', {
      session_id: uuid,
      history_id: historyId,
      tools: options.tools,
    });
    const response = await fetch(this.baseURL + url, {
      headers: {
        ...this.headers(),
        ...(options.lastEventId ? { 'last-event-id': options.lastEventId } : {}),
      },
      signal: options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal,
    });
    const events: SseEvent[] = [];
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw new Error(`event_stream: ${response.status} ${await response.text()}`);
    }
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of response.body!) {
        rest += decoder.decode(chunk, { stream: true });
        for (let cut = rest.indexOf('\n\n'); cut >= 0; cut = rest.indexOf('\n\n')) {
          const lines = rest.slice(0, cut).split('\n');
          rest = rest.slice(cut + 2);
          const field = (name: string) =>
            lines
              .filter((line) => line.startsWith(`${name}:`))
              .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
              .join('\n');
          const event = { id: field('id'), data: field('data') };
          if (!event.data) continue;
          events.push(event);
          if (options.onEvent?.(event) === false) {
            stop.abort();
            return events;
          }
        }
      }
    } catch (error) {
      if (!stop.signal.aborted && !options.signal?.aborted) throw error;
    }
    return events;
  }
}

/** What a reply's events amount to. */
export const joined = (events: readonly SseEvent[]) => {
  let text = '';
  let reasoning = '';
  let error: { code: string; message: string } | null = null;
  let done = false;
  for (const { data } of events) {
    if (data === '[DONE]') {
      done = true;
      continue;
    }
    const value = JSON.parse(data) as
      | string
      | { reasoning: string }
      | { code: string; message: string };
    if (typeof value === 'string') text += value;
    else if ('reasoning' in value) reasoning += value.reasoning;
    else error = value;
  }
  return { text, reasoning, error, done };
};
