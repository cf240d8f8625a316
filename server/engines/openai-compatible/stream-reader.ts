import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { cacheUseIn } from '../cache-use.ts';
import { EngineError, type ChatPart } from '../chat-engine.ts';
import { pieceOf } from '../produced.ts';
import { faultError, readFault, retryAfterOf, type UpstreamFault } from './upstream-error.ts';

/** Most bytes on the wire of one reply, whatever they hold. */
const maxBytes = 512 * 1024 * 1024;
/** Most characters of one event, and of an answer that is not a stream. */
const maxEventChars = 8 * 1024 * 1024;
/** An error answer's body is read up to here; what is in it for programs stands at its beginning. */
const maxErrorChars = 64 * 1024;
/** After finish_reason there may come usage and [DONE]; longer than this nobody waits for them, ms. */
const afterFinishMs = 5_000;

interface Delta {
  tool_calls?: unknown;
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
}

type Usage = { prompt_tokens?: unknown; completion_tokens?: unknown } & Record<string, unknown>;

interface Chunk {
  choices?:
    | {
        delta?: Delta | null;
        message?: Delta | null;
        finish_reason?: string | null;
        /** Kimi's place for it. */
        usage?: Usage | null;
      }[]
    | null;
  usage?: Usage | null;
  error?: unknown;
}

/** The service refused before it wrote anything: another form of the request may be accepted. */
export class RefusedRequest extends Error {
  readonly fault: UpstreamFault;
  constructor(fault: UpstreamFault) {
    super(`the service answered ${fault.status}`);
    this.fault = fault;
  }
}

/** Services write `content` as text, or as a list of typed pieces (Mistral's thinking models). */
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  let text = '';
  for (const piece of value as unknown[])
    if (typeof piece === 'object' && piece !== null)
      text += textOf((piece as { text?: unknown }).text);
  return text;
};

const thoughtOf = (value: unknown): string => {
  if (!Array.isArray(value)) return '';
  let text = '';
  for (const piece of value as unknown[])
    if (typeof piece === 'object' && piece !== null)
      text += textOf((piece as { thinking?: unknown }).thinking);
  return text;
};

/** What a call is signed with, where it is. */
export const signedIn = (extra: unknown): { signed?: Record<string, unknown> } =>
  typeof extra === 'object' && extra !== null && !Array.isArray(extra)
    ? { signed: extra as Record<string, unknown> }
    : {};

/** Pieces of calls of tools; services that send them whole may leave the index out. */
const callsOf = (value: unknown): (ChatPart & { kind: 'call' })[] => {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).flatMap((piece, at) => {
    if (typeof piece !== 'object' || piece === null) return [];
    const { index, id, function: called, extra_content: extra } = piece as Record<string, unknown>;
    const { name, arguments: given } = (called ?? {}) as Record<string, unknown>;
    const words =
      typeof given === 'string'
        ? given
        : given && typeof given === 'object'
          ? JSON.stringify(given)
          : '';
    return {
      kind: 'call' as const,
      index: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : at,
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      arguments: words,
      ...signedIn(extra),
    };
  });
};

const tokens = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? Math.min(Math.ceil(value), 2_000_000_000)
    : null;

const broken = (begun: boolean, cause: unknown): EngineError =>
  new EngineError('upstream', '和模型服务的连接中断了，请重试', { retriable: !begun, cause });
const senseless = (begun: boolean): EngineError =>
  new EngineError('upstream', '模型服务的回答无法读取，请重试', { retriable: !begun });
const tooLarge = (begun: boolean): EngineError =>
  new EngineError('too_large', '回复超出了长度上限，已停止', { retriable: !begun });

/**
 * Reads one answer as its bytes come in and hands on what each read of the wire brought. It is
 * undici's handler itself: no stream objects stand between the socket and the parts.
 */
export class StreamReader implements Dispatcher.DispatchHandler {
  /** Resolves at the end of a whole reply. */
  readonly whole: Promise<void>;
  readonly #take: (parts: ChatPart[]) => void;
  readonly #onSent: () => void;
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser: EventSourceParser;
  #settle: { resolve: () => void; reject: (reason: unknown) => void } | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** 'sniff': no content-type that says it, decided by the first character. */
  #form: 'waiting' | 'sniff' | 'events' | 'json' | 'refusal' = 'waiting';
  #status = 0;
  #retry: ReturnType<typeof retryAfterOf> = {};
  #body = '';
  #batch: ChatPart[] = [];
  #bytes = 0;
  /** Some of the reply came. */
  #begun = false;
  #finish = '';
  #said = false;
  #afterFinish: NodeJS.Timeout | undefined;
  #ended = false;
  #closed = false;

  /** @param onSent called once there is a connection and the request is written to it */
  constructor(take: (parts: ChatPart[]) => void, onSent: () => void = () => {}) {
    this.#take = take;
    this.#onSent = onSent;
    this.whole = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#parser = createParser({
      onEvent: (event) => this.#onEvent(event.data),
      maxBufferSize: maxEventChars,
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#fail(tooLarge(this.#begun));
      },
    });
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** Ends the reading and the request with it; what was finished already is whole. */
  abort(reason: unknown): void {
    if (this.#finish !== '') this.#end();
    else this.#fail(reason);
    this.#close();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#closed) controller.abort(new Error('no longer wanted'));
    else this.#onSent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    const type = String(headers['content-type'] ?? '').toLowerCase();
    if (status < 200) return;
    if (status !== 200) {
      this.#form = 'refusal';
      this.#retry = retryAfterOf(headers);
    }
    if (status !== 200) return;
    if (type.includes('text/event-stream')) this.#form = 'events';
    else if (type.includes('json')) this.#form = 'json';
    else if (type.includes('html')) this.#fail(senseless(false));
    else this.#form = 'sniff';
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) {
      this.#fail(tooLarge(this.#begun));
      return;
    }
    const text = this.#decoder.write(chunk);
    if (this.#form === 'sniff') {
      const first = text.trimStart()[0];
      if (first !== undefined) this.#form = first === '{' ? 'json' : 'events';
    }
    if (this.#form === 'events' || this.#form === 'sniff') this.#parser.feed(text);
    else if (this.#form === 'refusal') {
      if (this.#body.length < maxErrorChars) this.#body += text;
      else this.#refuse();
    } else {
      this.#body += text;
      if (this.#body.length > maxEventChars) this.#fail(tooLarge(this.#begun));
    }
    this.#handOn();
  }

  onResponseEnd(): void {
    this.#onClosed();
    if (this.#ended) return;
    if (this.#form === 'refusal') this.#refuse();
    else if (this.#form === 'json') this.#readBody();
    else {
      // The last event may lack its empty line.
      this.#parser.feed(`${this.#decoder.end()}\n\n`);
      if (this.#finish !== '' || this.#said) this.#end();
      else this.#fail(broken(this.#begun, undefined));
    }
    this.#handOn();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#onClosed();
    if (this.#ended) return;
    if (this.#form === 'refusal') this.#refuse();
    else if (this.#finish !== '' || this.#said) this.#end();
    else this.#fail(broken(this.#begun, error));
  }

  #onClosed(): void {
    this.#closed = true;
    clearTimeout(this.#afterFinish);
  }

  /** What was read before an end or a failure is told before it: promises settle a moment later. */
  #handOn(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#take(batch);
  }

  #close(): void {
    if (this.#closed) return;
    this.#onClosed();
    this.#controller?.abort(new Error('no longer wanted'));
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#settle?.reject(error);
    this.#close();
  }

  /** Usage and [DONE] may still come, and then the end of the connection: nobody waits for long. */
  #waitAfterFinish(): void {
    if (this.#closed) return;
    clearTimeout(this.#afterFinish);
    this.#afterFinish = setTimeout(() => {
      this.#end();
      this.#close();
    }, afterFinishMs).unref();
  }

  /** The reply is as whole as it gets; the connection may finish by itself to be used again. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#finish === 'length')
      this.#settle?.reject(
        new EngineError('too_large', '回复达到了模型的长度上限，后面没有写完', {
          retriable: false,
        }),
      );
    else if (this.#finish === 'content_filter')
      this.#settle?.reject(
        new EngineError('upstream', '模型服务按它的内容规则停止了回复', {
          retriable: false,
          askerAtFault: true,
        }),
      );
    else if (this.#finish === 'insufficient_system_resource' || this.#finish === 'error')
      this.#settle?.reject(faultError(readFault(503, null), { begun: this.#begun }));
    else this.#settle?.resolve();
    this.#waitAfterFinish();
  }

  #refuse(): void {
    let body: unknown = null;
    try {
      body = JSON.parse(this.#body);
    } catch {
      // Proxies answer with pages of HTML; the status says enough.
    }
    this.#fail(new RefusedRequest({ ...readFault(this.#status, body), ...this.#retry }));
  }

  #readBody(): void {
    let chunk: Chunk;
    try {
      chunk = JSON.parse(this.#body + this.#decoder.end()) as Chunk;
    } catch {
      this.#fail(senseless(false));
      return;
    }
    this.#body = '';
    this.#onChunk(chunk);
    if (this.#finish !== '' || this.#begun) this.#end();
    else this.#fail(senseless(false));
  }

  #onEvent(data: string): void {
    if (this.#ended) return;
    if (data === '[DONE]') {
      this.#said = true;
      this.#end();
      return;
    }
    let chunk: Chunk;
    try {
      chunk = JSON.parse(data) as Chunk;
    } catch {
      this.#fail(senseless(this.#begun));
      return;
    }
    this.#onChunk(chunk);
  }

  #onChunk(chunk: Chunk): void {
    if (typeof chunk !== 'object' || chunk === null) {
      this.#fail(senseless(this.#begun));
      return;
    }
    if (chunk.error !== undefined && chunk.error !== null) {
      this.#fail(faultError(readFault(0, chunk), { begun: this.#begun }));
      return;
    }
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (choice) {
      const delta = pieceOf(choice);
      if (delta) {
        this.#add(
          'reasoning',
          textOf(delta.reasoning_content) || textOf(delta.reasoning) || thoughtOf(delta.content),
        );
        this.#add('text', textOf(delta.content) || textOf(delta.refusal));
        for (const piece of callsOf(delta.tool_calls)) {
          this.#begun = true;
          this.#batch.push(piece);
        }
      }
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
        this.#finish = choice.finish_reason;
        this.#waitAfterFinish();
      }
    }
    const usage = chunk.usage ?? choice?.usage;
    if (usage) {
      const promptTokens = tokens(usage.prompt_tokens);
      const completionTokens = tokens(usage.completion_tokens);
      if (promptTokens !== null && completionTokens !== null)
        this.#batch.push({
          kind: 'usage',
          promptTokens,
          completionTokens,
          ...cacheUseIn(usage, promptTokens),
        });
    }
  }

  #add(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    this.#begun = true;
    const last = this.#batch.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#batch.push({ kind, text });
  }
}
