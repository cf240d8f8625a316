import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { Agent, type Dispatcher } from 'undici';
import { type ChatBody, type ChatRelay, RelayError, type RelayEvent } from '../chat-relay.ts';
import { pieceOf } from '../produced.ts';
import { adjustedBy, callUrl, inWordsOf, keyHeaders, refusedBy } from './makers.ts';
import type { OpenAiCompatibleOptions } from './openai-compatible-engine.ts';
import { faultError, isMoneyFault, isNoModel, readFault, retryAfterOf } from './upstream-error.ts';

/** Most characters of one event, and of an answer that is not a stream. */
const maxChars = 32 * 1024 * 1024;
const maxErrorChars = 64 * 1024;
/** After finish_reason there may come usage and [DONE]; longer than this nobody waits, ms. */
const afterFinishMs = 5_000;

const oneEvent = /^data: [^\r\n]*\n\n$/;

/** Whoever asks keeps the time. */
const agent = new Agent({
  connect: { timeout: 10_000 },
  headersTimeout: 0,
  bodyTimeout: 0,
});

type Take = (events: RelayEvent[]) => Promise<void> | void;

const secret = /\b(sk|key|pk)-[\w*-]{6,}|https?:\/\/\S+/gi;

/** What a service refused, in its own words where they are about what was asked. */
export const upstreamRefusal = (
  status: number,
  body: unknown,
  begun: boolean,
  retry: ReturnType<typeof retryAfterOf> = {},
): RelayError => {
  const fault = { ...readFault(status, body), ...retry };
  const reason = faultError(fault, { begun });
  const retriable = !begun && (reason.retriable || isMoneyFault(fault));
  const atFault = !isMoneyFault(fault) && !isNoModel(fault);
  if ((status === 400 || status === 422 || status === 413) && atFault) {
    const whole = (Array.isArray(body) ? body[0] : body) as Record<string, unknown> | null;
    const error = (whole?.['error'] ?? whole) as Record<string, unknown> | string | null;
    const said = typeof error === 'string' ? error : error?.['message'];
    const word = (name: string): string | null => {
      const value = typeof error === 'object' ? error?.[name] : null;
      return typeof value === 'string' ? value : null;
    };
    return new RelayError(
      typeof said === 'string' && said !== ''
        ? said.slice(0, 1000).replaceAll(secret, '…')
        : '模型服务没有接受这次请求',
      {
        status: status === 413 ? 413 : 400,
        type: word('type') ?? 'invalid_request_error',
        code: reason.code === 'context_length_exceeded' ? 'context_length_exceeded' : word('code'),
        param: word('param'),
        // A field that one service refuses another may know.
        retriable: false,
        askerAtFault: true,
        cause: fault,
      },
    );
  }
  const shown =
    reason.code === 'rate_limited' ? 429 : status >= 500 && status <= 599 ? status : 502;
  return new RelayError(reason.message, {
    status: shown,
    type: shown === 429 ? 'rate_limit_error' : 'server_error',
    code: reason.code === 'rate_limited' ? 'rate_limit_exceeded' : 'upstream_error',
    retriable,
    askerAtFault: reason.askerAtFault,
    cause: fault,
  });
};

const broken = (begun: boolean, cause?: unknown): RelayError =>
  new RelayError('和模型服务的连接中断了，请重试', {
    status: 502,
    code: 'upstream_error',
    retriable: !begun,
    cause,
  });
const senseless = (begun: boolean): RelayError =>
  new RelayError('模型服务的回答无法读取，请重试', {
    status: 502,
    code: 'upstream_error',
    retriable: !begun,
  });

const choicesIn = ({ choices }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(choices) ? (choices as Record<string, unknown>[]) : [];

/** A whole answer, or an event that says it as one does, as the event that should have said it. */
const chunkOf = (answer: Record<string, unknown>): RelayEvent => {
  const choices = choicesIn(answer).map(({ message, delta, ...choice }) => ({
    ...choice,
    delta: pieceOf({ message, delta }),
  }));
  const chunk = { ...answer, object: 'chat.completion.chunk', choices };
  return { data: JSON.stringify(chunk), chunk };
};

/**
 * Reads one answer as its bytes come in: undici's handler itself, without stream objects between the
 * socket and the events.
 */
class RelayReader implements Dispatcher.DispatchHandler {
  readonly whole: Promise<Record<string, unknown> | null>;
  readonly #take: Take | null;
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser: EventSourceParser;
  #settle: {
    resolve: (answer: Record<string, unknown> | null) => void;
    reject: (reason: unknown) => void;
  } = { resolve: () => {}, reject: () => {} };
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retry: ReturnType<typeof retryAfterOf> = {};
  #isEvents = false;
  /** The last read ended within an event. */
  #partial = false;
  #body = '';
  #batch: RelayEvent[] = [];
  #begun = false;
  #finished = false;
  #ended = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param take null: the answer is to be whole */
  constructor(take: Take | null) {
    this.#take = take;
    this.whole = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#parser = createParser({
      onEvent: (event) => this.#onEvent(event.data),
      maxBufferSize: maxChars,
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#fail(senseless(this.#begun));
      },
    });
  }

  abort(reason: unknown): void {
    this.#fail(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('no longer wanted'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    const type = String(headers['content-type'] ?? '').toLowerCase();
    if (status !== 200) this.#retry = retryAfterOf(headers);
    this.#isEvents = status === 200 && this.#take !== null && !type.includes('json');
    if (status === 200 && type.includes('html')) this.#fail(senseless(false));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    const text = this.#decoder.write(chunk);
    if (!this.#isEvents) {
      this.#body += text;
      if (this.#body.length > (this.#status === 200 ? maxChars : maxErrorChars)) {
        if (this.#status === 200) this.#fail(senseless(false));
        else this.#refuse();
      }
      return;
    }
    // Nearly every read brings one event, whole and in one line.
    const isWhole = !this.#partial && oneEvent.test(text);
    if (isWhole) this.#onEvent(text.slice('data: '.length, -2));
    else this.#parser.feed(text);
    this.#partial = !text.endsWith('\n\n');
    this.#handOn(controller);
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    if (this.#status !== 200) this.#refuse();
    else if (this.#isEvents) {
      // The last event may lack its empty line.
      this.#parser.feed(`${this.#decoder.end()}\n\n`);
      this.#handOn();
      if (this.#finished) this.#end(null);
      else this.#fail(broken(this.#begun));
    } else this.#readBody();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    if (this.#finished) this.#end(null);
    else this.#fail(broken(this.#begun, error));
  }

  /** What one read brought is told at once; a slow reader makes the service wait. */
  #handOn(controller?: Dispatcher.DispatchController): void {
    const batch = this.#batch;
    if (batch.length === 0 || !this.#take) return;
    this.#batch = [];
    const taken = this.#take(batch);
    if (!taken || !controller) return;
    controller.pause();
    taken.then(
      () => controller.resume(),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#settle.reject(error);
    this.#controller?.abort(new Error('no longer wanted'));
  }

  #end(answer: Record<string, unknown> | null): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#settle.resolve(answer);
  }

  #refuse(): void {
    let body: unknown = null;
    try {
      body = JSON.parse(this.#body);
    } catch {
      // Proxies answer with pages of HTML; the status says enough.
    }
    this.#fail(upstreamRefusal(this.#status, body, this.#begun, this.#retry));
  }

  #readBody(): void {
    try {
      const answer = JSON.parse(this.#body + this.#decoder.end()) as Record<string, unknown>;
      if (answer['error']) {
        this.#fail(upstreamRefusal(0, answer, false));
        return;
      }
      if (!Array.isArray(answer['choices'])) throw new TypeError('no completion');
      if (this.#take) {
        this.#batch = [chunkOf(answer)];
        this.#handOn();
      }
      this.#end(answer);
    } catch {
      this.#fail(senseless(false));
    }
  }

  #onEvent(data: string): void {
    if (this.#ended) return;
    if (data === '[DONE]') {
      this.#finished = true;
      this.#handOn();
      this.#end(null);
      return;
    }
    let chunk: Record<string, unknown>;
    try {
      chunk = JSON.parse(data) as Record<string, unknown>;
    } catch {
      this.#fail(senseless(this.#begun));
      return;
    }
    if (typeof chunk !== 'object' || chunk === null) {
      this.#fail(senseless(this.#begun));
      return;
    }
    if (chunk['error']) {
      this.#handOn();
      this.#fail(upstreamRefusal(0, chunk, this.#begun));
      return;
    }
    this.#begun = true;
    const [choice] = (chunk['choices'] ?? []) as { finish_reason?: unknown }[];
    if (choice && typeof choice.finish_reason === 'string') {
      this.#finished = true;
      this.#timer ??= setTimeout(() => {
        this.#handOn();
        this.#end(null);
        this.#controller?.abort(new Error('no longer wanted'));
      }, afterFinishMs).unref();
    }
    const isWhole = choicesIn(chunk).some((each) => each?.['message']);
    this.#batch.push(isWhole ? chunkOf(chunk) : { data, chunk });
  }
}

/** OpenAI's thinking models, which know the length of an answer by its newer name alone. */
const newerName = /^(?:o\d|gpt-5)/i;

/** What one request does without, or says otherwise, because its service refused it. */
interface Dialect {
  noStreamOptions: boolean;
  newerLength: boolean;
}

const bodyFor = (body: ChatBody, dialect: Dialect): ChatBody => {
  const { max_tokens: length, ...sent } = body;
  if (length !== undefined)
    sent[dialect.newerLength ? 'max_completion_tokens' : 'max_tokens'] = length;
  if (dialect.noStreamOptions) delete sent['stream_options'];
  return sent;
};

/** The request in other words, after a refusal of one of the fields of this side; null: there are none. */
const otherWords = (error: unknown, sent: ChatBody, dialect: Dialect): Dialect | null => {
  if (!(error instanceof RelayError) || error.status !== 400) return null;
  if (error.param === 'max_tokens' && sent['max_tokens'] !== undefined)
    return { ...dialect, newerLength: true };
  const named = error.param?.startsWith('stream_options') ?? false;
  const nothingNamed = error.param === null && error.code === null;
  return (named || nothingNamed) && sent['stream_options'] !== undefined
    ? { ...dialect, noStreamOptions: true }
    : null;
};

/**
 * Any service that speaks OpenAI's chat completions. It remembers nothing: what one request provokes
 * would change what all others send.
 */
export const createOpenAiRelay = (options: OpenAiCompatibleOptions): ChatRelay => {
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    ...keyHeaders(options, options.apiKey),
  };

  const ask = async (body: ChatBody, signal: AbortSignal, take: Take | null) => {
    let dialect: Dialect = { noStreamOptions: false, newerLength: newerName.test(body.model) };
    for (;;) {
      signal.throwIfAborted();
      const sent = bodyFor(body, dialect);
      const reader = new RelayReader(take);
      const { origin, pathname, search } = callUrl(options, 'chat/completions', sent.model);
      (options.dispatcher ?? agent).dispatch(
        {
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body: JSON.stringify(inWordsOf(options, { ...options.body, ...sent })),
        },
        reader,
      );
      const onAbort = () => reader.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await reader.whole;
      } catch (error) {
        const other = otherWords(error, sent, dialect);
        if (other === null) throw error;
        dialect = other;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    }
  };

  return {
    unable: (body) => refusedBy(options, body),
    adjusts: (body) => adjustedBy(options, body),
    async complete(body, signal) {
      const answer = await ask({ ...body, stream: false }, signal, null);
      if (!answer) throw senseless(false);
      return answer;
    },
    async stream(body, signal, take) {
      await ask({ ...body, stream: true, stream_options: { include_usage: true } }, signal, take);
    },
  };
};
