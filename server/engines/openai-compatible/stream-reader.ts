import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { EngineError, type ChatPart } from '../chat-engine.ts';
import { faultError, readFault, type UpstreamFault } from './upstream-error.ts';

export interface StreamLimits {
  /** From the request to the first text or thought, ms. */
  firstPartMs: number;
  /** From one text or thought to the next, ms. Bytes that make no text do not count. */
  idleMs: number;
  /** Most UTF-16 units of text and thought of one reply. */
  maxChars: number;
  /** Most bytes on the wire of one reply, whatever they hold. */
  maxBytes: number;
  /** Most characters of one event, and of an answer that is not a stream. */
  maxEventChars: number;
}

export const defaultLimits: StreamLimits = {
  firstPartMs: 60_000,
  idleMs: 60_000,
  maxChars: 1_000_000,
  maxBytes: 512 * 1024 * 1024,
  maxEventChars: 8 * 1024 * 1024,
};

/** An error answer's body is read up to here; what is in it for programs stands at its beginning. */
const maxErrorChars = 64 * 1024;
/** What waits for a slow reader before the service is asked to wait too, UTF-16 units. */
const pauseAt = 256 * 1024;
/** After finish_reason there may come usage and [DONE]; longer than this nobody waits for them, ms. */
const afterFinishMs = 5_000;

interface Delta {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
}

interface Chunk {
  choices?:
    | { delta?: Delta | null; message?: Delta | null; finish_reason?: string | null }[]
    | null;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
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

/** Readers whose limits are being watched; one timer serves them all, not one for each chunk. */
const watched = new Set<StreamReader>();
let ticker: NodeJS.Timeout | undefined;
const tickMs = 250;
let lastTick = 0;

const watch = (reader: StreamReader): void => {
  watched.add(reader);
  if (ticker) return;
  lastTick = performance.now();
  ticker = setInterval(() => {
    const now = performance.now();
    // This process was held up itself: what came meanwhile is read before anything is called late.
    const wasHeldUp = now - lastTick > 4 * tickMs;
    lastTick = now;
    if (wasHeldUp) return;
    for (const each of watched) each.checkTime(now);
  }, tickMs).unref();
};

const unwatch = (reader: StreamReader): void => {
  watched.delete(reader);
  if (watched.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
};

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
 * Reads one answer as its bytes come in. It is undici's handler itself: no stream objects stand
 * between the socket and the parts. `next()` gives what was read since the last call.
 */
export class StreamReader implements Dispatcher.DispatchHandler {
  readonly #limits: StreamLimits;
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser: EventSourceParser;
  #controller: Dispatcher.DispatchController | undefined;
  /** 'sniff': no content-type that says it, decided by the first character. */
  #form: 'waiting' | 'sniff' | 'events' | 'json' | 'refusal' = 'waiting';
  #status = 0;
  #whole = '';
  #batch: ChatPart[] = [];
  #batchChars = 0;
  #chars = 0;
  #bytes = 0;
  #begun = false;
  #finish = '';
  #said = false;
  /** performance.now() by which something must happen. */
  #deadline: number;
  #ended = false;
  #error: unknown;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
    this.#deadline = performance.now() + limits.firstPartMs;
    this.#parser = createParser({
      onEvent: (event) => this.#onEvent(event.data),
      maxBufferSize: limits.maxEventChars,
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#fail(tooLarge(this.#begun));
      },
    });
    watch(this);
  }

  /** The parts read since the last call, or null at the end of a whole reply. */
  async next(): Promise<ChatPart[] | null> {
    while (this.#batch.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const batch = this.#batch;
    this.#batch = [];
    this.#batchChars = 0;
    if (this.#controller?.paused) {
      this.#deadline = performance.now() + this.#limits.idleMs;
      this.#controller.resume();
    }
    return batch;
  }

  /** Ends the reading and the request with it. */
  abort(reason: unknown): void {
    this.#fail(reason);
  }

  checkTime(now: number): void {
    if (now < this.#deadline || this.#controller?.paused) return;
    if (this.#ended) this.#close();
    else if (this.#finish !== '' || this.#said) this.#end();
    else
      this.#fail(
        new EngineError('timeout', '模型长时间没有回应，请重试', { retriable: !this.#begun }),
      );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#closed) controller.abort(new Error('no longer wanted'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    const type = String(headers['content-type'] ?? '').toLowerCase();
    if (status < 200) return;
    if (status !== 200) this.#form = 'refusal';
    else if (type.includes('text/event-stream')) this.#form = 'events';
    else if (type.includes('json')) this.#form = 'json';
    else if (type.includes('html')) this.#fail(senseless(false));
    else this.#form = 'sniff';
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended || this.#error !== undefined) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.maxBytes) {
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
      if (this.#whole.length < maxErrorChars) this.#whole += text;
      else this.#refuse();
    } else {
      this.#whole += text;
      if (this.#whole.length > this.#limits.maxEventChars) this.#fail(tooLarge(this.#begun));
    }
    if (this.#batch.length > 0) {
      if (this.#batchChars > pauseAt) this.#controller?.pause();
      this.#rouse();
    }
  }

  onResponseEnd(): void {
    this.#closed = true;
    unwatch(this);
    if (this.#ended || this.#error !== undefined) return;
    if (this.#form === 'refusal') this.#refuse();
    else if (this.#form === 'json') this.#readWhole();
    else {
      // The last event may lack its empty line.
      this.#parser.feed(`${this.#decoder.end()}\n\n`);
      if (this.#finish !== '' || this.#said) this.#end();
      else this.#fail(broken(this.#begun, undefined));
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#closed = true;
    unwatch(this);
    if (this.#ended || this.#error !== undefined) return;
    if (this.#form === 'refusal') this.#refuse();
    else if (this.#finish !== '' || this.#said) this.#end();
    else this.#fail(broken(this.#begun, error));
  }

  #rouse(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    unwatch(this);
    this.#controller?.abort(new Error('no longer wanted'));
  }

  #fail(error: unknown): void {
    if (this.#error !== undefined || this.#ended) return;
    this.#error = error;
    this.#close();
    this.#rouse();
  }

  /** The reply is as whole as it gets; the connection may finish by itself to be used again. */
  #end(): void {
    if (this.#ended || this.#error !== undefined) return;
    if (this.#finish === 'length')
      this.#error = new EngineError('too_large', '回复达到了模型的长度上限，后面没有写完', {
        retriable: false,
      });
    else if (this.#finish === 'content_filter')
      this.#error = new EngineError('upstream', '模型服务按它的内容规则停止了回复', {
        retriable: false,
        askerAtFault: true,
      });
    else if (this.#finish === 'insufficient_system_resource' || this.#finish === 'error')
      this.#error = faultError(readFault(503, null), { begun: this.#begun });
    this.#ended = true;
    this.#deadline = performance.now() + afterFinishMs;
    this.#rouse();
  }

  #refuse(): void {
    let body: unknown = null;
    try {
      body = JSON.parse(this.#whole);
    } catch {
      // Proxies answer with pages of HTML; the status says enough.
    }
    this.#fail(new RefusedRequest(readFault(this.#status, body)));
  }

  #readWhole(): void {
    let chunk: Chunk;
    try {
      chunk = JSON.parse(this.#whole + this.#decoder.end()) as Chunk;
    } catch {
      this.#fail(senseless(false));
      return;
    }
    this.#whole = '';
    this.#onChunk(chunk);
    if (this.#finish !== '' || this.#begun) this.#end();
    else this.#fail(senseless(false));
  }

  #onEvent(data: string): void {
    if (this.#ended || this.#error !== undefined) return;
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
      const delta = choice.delta ?? choice.message;
      if (delta) {
        this.#add(
          'reasoning',
          textOf(delta.reasoning_content) || textOf(delta.reasoning) || thoughtOf(delta.content),
        );
        this.#add('text', textOf(delta.content) || textOf(delta.refusal));
      }
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
        this.#finish = choice.finish_reason;
        this.#deadline = performance.now() + afterFinishMs;
      }
    }
    if (chunk.usage) {
      const promptTokens = tokens(chunk.usage.prompt_tokens);
      const completionTokens = tokens(chunk.usage.completion_tokens);
      if (promptTokens !== null && completionTokens !== null)
        this.#batch.push({ kind: 'usage', promptTokens, completionTokens });
    }
  }

  #add(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    let kept = text;
    const room = this.#limits.maxChars - this.#chars;
    if (text.length > room) kept = text.slice(0, room);
    this.#chars += kept.length;
    this.#batchChars += kept.length;
    this.#begun = true;
    if (this.#finish === '') this.#deadline = performance.now() + this.#limits.idleMs;
    if (kept !== '') {
      const last = this.#batch.at(-1);
      if (last?.kind === kind) last.text += kept;
      else this.#batch.push({ kind, text: kept });
    }
    if (kept.length < text.length) this.#fail(tooLarge(this.#begun));
  }
}
