import { randomUUID } from 'node:crypto';
import type { ChatMessage, ContentPart } from '#common/chat-message.ts';
import { type ChatEngine, EngineError, type ChatPart } from './chat-engine.ts';

/** A chat completion in OpenAI's own words: what is asked for, as its fields stand on the wire. */
export type ChatBody = Record<string, unknown> & {
  model: string;
  messages: readonly Record<string, unknown>[];
};

/**
 * What OpenAI's words have no field for and another dialect has, kept beside an object of the wire:
 * JSON leaves it out, so that it reaches nobody else.
 */
export interface Aside {
  /** A mark of what is to be cached: of a part, a message's last part, a tool, or all of a body. */
  cache?: true;
  /** Of a tool's result: the tool failed. */
  failed?: true;
  /** Of an assistant's message: what it thought, as its service signed it. */
  thinking?: readonly Record<string, unknown>[];
  /** Of a body: features that are asked for by name. */
  betas?: readonly string[];
  /** Of a choice: the sequence that ended the answer. */
  stopSequence?: string;
  /** Of the first event: what was asked, as its service counted it. */
  usage?: Record<string, unknown>;
}
const aside = Symbol('aside');

export const withAside = <T extends object>(value: T, more: Aside): T => {
  if (Object.keys(more).length === 0) return value;
  return { ...value, [aside]: { ...asideOf(value), ...more } };
};
export const asideOf = (value: object): Aside => (value as { [aside]?: Aside })[aside] ?? {};

/** One event of a stream: its text, and the same read. */
export interface RelayEvent {
  data: string;
  chunk: Record<string, unknown>;
}

/** Fields that a service's words leave out, and those that they bring to another value, such as `temperature=1`. */
export interface Adjusted {
  ignored: readonly string[];
  adjusted: readonly string[];
}

/**
 * Passes a chat completion on in the words that it came in, and its answer back. What it rejects
 * with is a RelayError, or the signal's reason.
 */
export interface ChatRelay {
  /** The words that its service speaks, where they are not OpenAI's: some fields have none there. */
  kind?: 'anthropic' | 'gemini';
  /** Why its service cannot be asked this; null: it can. Left out: it takes all. */
  unable?: (body: ChatBody) => RelayError | null;
  /** What its service's words change of this; null: nothing. Left out: they never do. */
  adjusts?: (body: ChatBody) => Adjusted | null;
  /** A whole answer. */
  complete: (body: ChatBody, signal: AbortSignal) => Promise<Record<string, unknown>>;
  /**
   * An answer in events, those of one read of the wire together; resolves at its end. While what
   * `take` gave is awaited, nothing more is read.
   */
  stream: (
    body: ChatBody,
    signal: AbortSignal,
    take: (events: RelayEvent[]) => Promise<void> | void,
  ) => Promise<void>;
}

/** What a service answered instead of a completion, or that it did not. */
export class RelayError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  /** Another channel may be tried, if nothing was answered yet. */
  readonly retriable: boolean;
  /** What was asked is at fault, not the service. */
  readonly askerAtFault: boolean;
  constructor(
    message: string,
    fault: {
      status: number;
      type?: string;
      code?: string | null;
      param?: string | null;
      retriable: boolean;
      askerAtFault?: boolean;
      cause?: unknown;
    },
  ) {
    super(message, { cause: fault.cause });
    this.status = fault.status;
    this.type = fault.type ?? (fault.status >= 500 ? 'server_error' : 'invalid_request_error');
    this.code = fault.code ?? null;
    this.param = fault.param ?? null;
    this.retriable = fault.retriable;
    this.askerAtFault = fault.askerAtFault ?? false;
  }
}

const refuse = (message: string, param: string): never => {
  throw new RelayError(message, { status: 400, param, retriable: false, askerAtFault: true });
};

const partOf = (part: Record<string, unknown>): ContentPart[] => {
  if (part['type'] === 'text' && typeof part['text'] === 'string')
    return [{ type: 'text', text: part['text'] }];
  if (part['type'] !== 'image_url') return [];
  const { url } = (part['image_url'] ?? {}) as { url?: unknown };
  return typeof url === 'string' ? [{ type: 'image_url', image_url: { url, detail: 'low' } }] : [];
};

/** Messages of the wire as engines know them; what no engine here can use is left out. */
const messagesOf = (messages: ChatBody['messages']): ChatMessage[] =>
  messages.flatMap(({ role, content }): ChatMessage[] => {
    const known =
      role === 'assistant' || role === 'user'
        ? role
        : role === 'system' || role === 'developer'
          ? 'system'
          : null;
    if (known === null) return [];
    if (typeof content === 'string') return [{ role: known, content }];
    return Array.isArray(content)
      ? [{ role: known, content: (content as Record<string, unknown>[]).flatMap(partOf) }]
      : [];
  });

/** An engine without a wire of its own answers in OpenAI's words; what it cannot do it refuses. */
export const relayOfEngine = (engine: ChatEngine): ChatRelay => {
  const write = async (
    body: ChatBody,
    signal: AbortSignal,
    take: (parts: ChatPart[]) => void,
  ): Promise<void> => {
    const messages = messagesOf(body.messages);
    if (!messages.some(({ role }) => role === 'user')) refuse('没有要回答的问题', 'messages');
    try {
      await engine.write(
        {
          model: body.model,
          messages,
          temperature: 1,
          presencePenalty: 0,
          frequencyPenalty: 0,
          signal,
        },
        take,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EngineError)) throw error;
      throw new RelayError(error.message, { status: 502, retriable: error.retriable });
    }
  };
  const head = (body: ChatBody) => ({
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model: body.model,
  });
  const usageOf = (part: ChatPart & { kind: 'usage' }) => ({
    prompt_tokens: part.promptTokens,
    completion_tokens: part.completionTokens,
    total_tokens: part.promptTokens + part.completionTokens,
  });

  return {
    async complete(body, signal) {
      let text = '';
      let usage: unknown;
      await write(body, signal, (parts) => {
        for (const part of parts)
          if (part.kind === 'text') text += part.text;
          else if (part.kind === 'usage') usage = usageOf(part);
      });
      return {
        ...head(body),
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: text, refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage,
      };
    },

    async stream(body, signal, take) {
      const top = { ...head(body), object: 'chat.completion.chunk' };
      const event = (rest: Record<string, unknown>): RelayEvent => {
        const chunk = { ...top, ...rest };
        return { data: JSON.stringify(chunk), chunk };
      };
      const said = (delta: Record<string, unknown>, finish: string | null = null) =>
        event({ choices: [{ index: 0, delta, finish_reason: finish }] });
      let taken: Promise<void> | void = take([said({ role: 'assistant', content: '' })]);
      let usage: unknown;
      await write(body, signal, (parts) => {
        const events = parts.flatMap((part) => {
          if (part.kind === 'usage') {
            usage = usageOf(part);
            return [];
          }
          // Nothing that it could call was offered.
          if (part.kind === 'call' || part.kind === 'signed') return [];
          return said(
            part.kind === 'text' ? { content: part.text } : { reasoning_content: part.text },
          );
        });
        if (events.length > 0) taken = take(events);
      });
      await taken;
      await take([said({}, 'stop'), event({ choices: [], usage })]);
    },
  };
};
