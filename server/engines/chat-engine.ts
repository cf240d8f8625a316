import type { ChatMessage } from '#common/chat-message.ts';
import type { StreamCode } from '#contract/page-errors.ts';
import type { CacheUse } from '#contract/price.ts';
import type { AskedThinking } from './thinking.ts';

/** A tool as a model is told of it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
}

export interface ChatRequest {
  /** The model's name at the service. */
  model: string;
  messages: ChatMessage[];
  /** 0.1–2. */
  temperature: number;
  /** 0–2. */
  presencePenalty: number;
  /** 0–2. */
  frequencyPenalty: number;
  /** Most tokens of the reply; undefined: the service decides. */
  maxTokens?: number;
  /** How long it is to think; undefined: as it usually does. */
  thinking?: AskedThinking | undefined;
  /** What it may call; undefined: nothing. */
  tools?: readonly ToolSpec[] | undefined;
  signal: AbortSignal;
  /** Called when the request goes out to a service, whose bill runs from then on. */
  onSent?: () => void;
  /** Called when the service refused it after all, or was given up before it said a word. */
  onRefused?: () => void;
}

export type ChatPart =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  /** What was thought, as the service signed it: it goes back with the calls of the same round. */
  | { kind: 'signed'; blocks: Record<string, unknown>[] }
  /** More of a call of a tool; the first piece of each index has its name. */
  | {
      kind: 'call';
      index: number;
      id: string;
      name: string;
      arguments: string;
      /** OpenAI's words have it as `extra_content`: Gemini's models want it back with the call. */
      signed?: Record<string, unknown>;
    }
  /** The service's own count; may come more than once, the last counts. */
  | ({ kind: 'usage'; promptTokens: number; completionTokens: number } & CacheUse);

/**
 * Writes a reply. Hands its parts over in batches, one for each read of the wire, at once and
 * without a turn of the event loop. Resolves only when the service said that the reply is whole;
 * anything else rejects with an EngineError. Aborting the signal ends it with the signal's reason.
 * An engine keeps no time: whoever asks knows how long a reply may take and how long it may be.
 */
export interface ChatEngine {
  write(request: ChatRequest, take: (parts: ChatPart[]) => void): Promise<void>;
}

export class EngineError extends Error {
  readonly code: StreamCode;
  /** Another channel may be tried if nothing was written yet. */
  readonly retriable: boolean;
  /**
   * What was asked is at fault, not the service: nothing to hold against the channel, or anybody
   * could shut it for all others by asking for what it refuses.
   */
  readonly askerAtFault: boolean;
  constructor(
    code: StreamCode,
    message: string,
    options: { retriable: boolean; askerAtFault?: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retriable = options.retriable;
    this.askerAtFault = options.askerAtFault ?? false;
  }
}
