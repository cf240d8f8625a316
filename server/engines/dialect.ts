import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import { cacheUseIn } from './cache-use.ts';
import { type ChatEngine, EngineError, type ChatPart } from './chat-engine.ts';
import {
  type ChatBody,
  type ChatRelay,
  RelayError,
  type RelayEvent,
  withAside,
} from './chat-relay.ts';
import { messageOf, toolOf } from './openai-compatible/openai-compatible-engine.ts';
import { upstreamRefusal } from './openai-compatible/chat-relay.ts';
import { signedIn } from './openai-compatible/stream-reader.ts';
import { dialectThinking, lengthWithThinking } from './thinking.ts';
import { faultError, type UpstreamFault } from './openai-compatible/upstream-error.ts';

/**
 * Services that answer chats in words of their own. A dialect turns a request from OpenAI's words
 * into its service's, and the answer back; how it travels is the same for all of them.
 */

type Json = Record<string, unknown>;

/** Most characters of one event, and of an answer that is not a stream. */
const maxChars = 32 * 1024 * 1024;
const maxErrorChars = 64 * 1024;
/** After an answer's end there may come the end of the connection; longer than this nobody waits, ms. */
const afterEndMs = 5_000;

/** Whoever asks keeps the time. */
const agent = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 });

/** Where a service is, its key, and what goes with each request; what the program says itself counts more. */
export interface DialectPlace {
  baseUrl: string;
  apiKey: string;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher;
}

export interface DialectRequest {
  url: URL;
  headers: Record<string, string>;
  json: unknown;
}

/** Reads one answer's events in their order. */
export interface DialectReader {
  /** What one event says, as OpenAI's events. @throws RelayError where it tells a failure */
  read: (event: Json) => RelayEvent[];
  /** The service has said all that belongs to an answer. */
  isWhole: () => boolean;
}

export interface Dialect {
  /** Left out: what it cannot say it tells itself. */
  kind?: 'anthropic' | 'gemini';
  /** Left out: straight to the service. */
  dispatcher?: Dispatcher;
  /** @throws RelayError for what has no words there */
  request: (body: ChatBody, stream: boolean) => DialectRequest;
  reader: (body: ChatBody) => DialectReader;
  /** A whole answer. */
  answer: (body: ChatBody, given: Json) => Json;
  /** A failure in the words that `readFault` knows. */
  fault: (given: Json) => Json;
}

export const brokenLine = (begun: boolean, cause?: unknown): RelayError =>
  new RelayError('和模型服务的连接中断了，请重试', {
    status: 502,
    code: 'upstream_error',
    retriable: !begun,
    cause,
  });

export const senseless = (begun: boolean, cause?: unknown): RelayError =>
  new RelayError('模型服务的回答无法读取，请重试', {
    status: 502,
    code: 'upstream_error',
    retriable: !begun,
    cause,
  });

/** What a dialect has no words for. */
export const cannotSay = (param: string, message: string): RelayError =>
  new RelayError(message, { status: 400, param, retriable: false, askerAtFault: true });

/** A text, or the empty one where there is none. */
export const worded = (value: unknown): string => (typeof value === 'string' ? value : '');

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parse = (text: string, begun: boolean): Json => {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (error) {
    throw senseless(begun, error);
  }
  throw senseless(begun);
};

/** The answer's head; its body where the service said no. @throws RelayError */
const send = async (dialect: Dialect, asked: DialectRequest, signal: AbortSignal) => {
  signal.throwIfAborted();
  const answer = await request(asked.url, {
    dispatcher: dialect.dispatcher ?? agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...asked.headers },
    body: JSON.stringify(asked.json),
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw brokenLine(false, error);
  });
  const { statusCode: status, body, headers } = answer;
  // Whatever ends the reading of a body early is no error of this process.
  body.on('error', () => {});
  if (status === 200) {
    if (!String(headers['content-type'] ?? '').includes('html')) return body;
    body.destroy();
    throw senseless(false);
  }
  let text = '';
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.length > maxErrorChars) break;
    }
  } catch {
    // The status says enough.
  }
  signal.throwIfAborted();
  let told: unknown = null;
  try {
    told = JSON.parse(text);
  } catch {
    // Proxies answer with pages of HTML.
  }
  const first: unknown = Array.isArray(told) ? (told as unknown[])[0] : told;
  throw upstreamRefusal(status, isRecord(first) ? dialect.fault(first) : null, false);
};

/** Lets a connection finish by itself, to be used again; nobody waits for long. */
const leave = (answer: Readable): void => {
  if (answer.destroyed) return;
  const timer = setTimeout(() => answer.destroy(), afterEndMs).unref();
  answer.once('close', () => clearTimeout(timer));
  answer.resume();
};

/** Passes chat completions on to a service that speaks a dialect. */
export const relayOfDialect = (dialect: Dialect): ChatRelay => ({
  kind: dialect.kind,

  async complete(body, signal) {
    const answer = await send(dialect, dialect.request(body, false), signal);
    let text = '';
    const decoder = new StringDecoder('utf8');
    try {
      for await (const piece of answer as AsyncIterable<Buffer>) {
        text += decoder.write(piece);
        if (text.length > maxChars) throw senseless(false);
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof RelayError ? error : brokenLine(false, error);
    }
    const given = parse(text, false);
    if (given['error']) throw upstreamRefusal(0, dialect.fault(given), false);
    return dialect.answer(body, given);
  },

  async stream(body, signal, take) {
    const answer = await send(dialect, dialect.request(body, true), signal);
    const reader = dialect.reader(body);
    let begun = false;
    let batch: RelayEvent[] = [];
    let failure: unknown = null;
    const parser = createParser({
      onEvent: ({ data }) => {
        if (failure !== null || data === '[DONE]') return;
        try {
          const event = parse(data, begun);
          if (event['error']) throw upstreamRefusal(0, dialect.fault(event), begun);
          const said = reader.read(event);
          if (said.length > 0) begun = true;
          batch.push(...said);
        } catch (error) {
          failure = error;
        }
      },
      maxBufferSize: maxChars,
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') failure ??= senseless(begun);
      },
    });
    const handOn = async (): Promise<void> => {
      if (batch.length > 0) {
        const events = batch;
        batch = [];
        await take(events);
      }
      if (failure !== null) throw failure;
    };
    const decoder = new StringDecoder('utf8');
    try {
      const pieces = answer.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      for await (const piece of pieces) {
        parser.feed(decoder.write(piece));
        await handOn();
        if (reader.isWhole()) break;
      }
      leave(answer);
    } catch (error) {
      answer.destroy();
      signal.throwIfAborted();
      throw error instanceof RelayError ? error : brokenLine(begun, error);
    }
    // The last event may lack its empty line.
    parser.feed('\n\n');
    await handOn();
    if (!reader.isWhole()) throw brokenLine(begun);
  },
});

/** What a person is told of a failure: never the service's own words. */
const engineError = (error: RelayError, begun: boolean): EngineError => {
  const { cause } = error;
  if (isRecord(cause) && 'param' in cause && 'type' in cause)
    return faultError(cause as unknown as UpstreamFault, { begun });
  return new EngineError('upstream', error.message, {
    retriable: error.retriable && !begun,
    askerAtFault: error.askerAtFault,
    cause: error,
  });
};

/** Why an answer ended that is not as whole as it should be; null: it is. */
const endError = (finish: string): EngineError | null => {
  if (finish === 'length')
    return new EngineError('too_large', '回复达到了模型的长度上限，后面没有写完', {
      retriable: false,
    });
  return finish === 'content_filter'
    ? new EngineError('upstream', '模型服务按它的内容规则停止了回复', {
        retriable: false,
        askerAtFault: true,
      })
    : null;
};

interface ToolCallDelta {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: string };
  extra_content?: unknown;
}

const partsOf = (chunk: Json): ChatPart[] => {
  const [choice] = (chunk['choices'] ?? []) as { delta?: Json }[];
  const { content, reasoning_content: thought, tool_calls: calls } = choice?.delta ?? {};
  const { thinking_blocks: blocks } = choice?.delta ?? {};
  const parts: ChatPart[] = [];
  if (Array.isArray(blocks)) parts.push({ kind: 'signed', blocks: blocks as Json[] });
  if (typeof thought === 'string' && thought !== '')
    parts.push({ kind: 'reasoning', text: thought });
  if (typeof content === 'string' && content !== '') parts.push({ kind: 'text', text: content });
  for (const piece of (calls ?? []) as ToolCallDelta[]) {
    const { index = 0, id, function: called, extra_content: extra } = piece;
    parts.push({
      kind: 'call',
      index,
      id: id ?? '',
      name: called?.name ?? '',
      arguments: called?.arguments ?? '',
      ...signedIn(extra),
    });
  }
  const usage = chunk['usage'] as
    | { prompt_tokens: number; completion_tokens: number; [name: string]: unknown }
    | undefined;
  if (usage)
    parts.push({
      kind: 'usage',
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      ...cacheUseIn(usage, usage.prompt_tokens),
    });
  return parts;
};

/** The page's chat over a relay. */
export const engineOfRelay = (relay: ChatRelay): ChatEngine => ({
  async write(request, take) {
    const { model, messages, tools, temperature, thinking } = request;
    const { presencePenalty, frequencyPenalty } = request;
    const maxTokens = lengthWithThinking(request.maxTokens, thinking);
    const body: ChatBody = {
      model,
      messages: messages.map((message) => {
        const said = messageOf(message, model);
        return message.signed ? withAside(said, { thinking: message.signed }) : said;
      }),
      ...(tools && tools.length > 0 && { tools: tools.map(toolOf) }),
      temperature,
      ...(presencePenalty === 0 ? {} : { presence_penalty: presencePenalty }),
      ...(frequencyPenalty === 0 ? {} : { frequency_penalty: frequencyPenalty }),
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      ...dialectThinking(thinking, model),
    };
    let begun = false;
    let finish = '';
    request.signal.throwIfAborted();
    request.onSent?.();
    try {
      await relay.stream(body, request.signal, (events) => {
        const parts = events.flatMap(({ chunk }) => {
          const [choice] = (chunk['choices'] ?? []) as { finish_reason?: string | null }[];
          finish = choice?.finish_reason ?? finish;
          return partsOf(chunk);
        });
        if (parts.length === 0) return;
        begun ||= parts.some(({ kind }) => kind !== 'usage' && kind !== 'signed');
        take(parts);
      });
    } catch (error) {
      request.signal.throwIfAborted();
      throw error instanceof RelayError ? engineError(error, begun) : error;
    }
    const unfinished = endError(finish);
    if (unfinished) throw unfinished;
  },
});
