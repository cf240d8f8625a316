import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { streamCodes } from '#contract/page-errors.ts';
import { textOf } from '#common/chat-message.ts';
import { channelFault } from '#server/engines/channel-fault.ts';
import { type ChatEngine, EngineError } from '#server/engines/chat-engine.ts';
import {
  type ChatBody,
  type ChatRelay,
  RelayError,
  type RelayEvent,
} from '#server/engines/chat-relay.ts';
import { traced } from '#server/tracing.ts';
import type { Form } from './first-words.ts';
import type { KeyMark } from './channel-figures.store.ts';
import type { LineHealth } from './line-health.ts';
import { race } from './line-race.ts';

/** One key of one channel, as a way to a model. */
export interface Line<E> {
  channelId: number;
  engine: E;
  upstreamName: string;
  /** Names the service for people. */
  label: string;
  key: KeyMark;
  /** Calls that this process may have running at its channel; null: any number. */
  parallel: number | null;
  /** Asks the service, without the question, whether it takes the key; null: nobody can tell. */
  takesKey: (() => Promise<boolean | null>) | null;
}

export interface LineCall {
  /** As people know it. */
  model: string;
  userId: number;
  /** What a check finds in it may be kept with its case. */
  keep?: boolean;
  /** What one waits at most for the first word of one line, ms. */
  firstMs: number;
  /** Nobody is asked anew once it is aborted; left out: the signal of what is asked. */
  gone?: AbortSignal;
  /** How a program's request is put to a service, by the words that it speaks. */
  words?: {
    /** Why it cannot be put to one; null: it can. */
    unable: (kind: ChatRelay['kind']) => Error | null;
    of: (body: ChatBody, kind: ChatRelay['kind']) => ChatBody;
  };
  /** It is asked now, or it is the one that answers. */
  onLine?: (line: { channelId: number; label: string }) => void;
}

/** Those of one channel that are asked in one call at most: a hundred dead keys keep nobody waiting. */
const mostKeys = 5;

const few = <E>(lines: readonly Line<E>[]): Line<E>[] => {
  const counts = new Map<number, number>();
  return lines.filter(({ channelId }) => {
    const count = (counts.get(channelId) ?? 0) + 1;
    counts.set(channelId, count);
    return count <= mostKeys;
  });
};

/** How long one waits for room at channels that may have so many calls at once, and looks anew, ms. */
const room = { longest: 15_000, every: 50 };

/** Those whose channel may have one more call, waited for if none may. */
const withRoom = async <E>(
  lines: readonly Line<E>[],
  health: LineHealth,
  gone: AbortSignal,
): Promise<Line<E>[]> => {
  const until = performance.now() + room.longest;
  for (;;) {
    const free = lines.filter(
      ({ channelId, parallel }) => parallel === null || health.running(channelId) < parallel,
    );
    if (free.length > 0 || lines.length === 0 || performance.now() > until) return free;
    await sleep(room.every, undefined, { signal: gone });
  }
};

interface Asked {
  form: Form;
  /** Characters of the question. */
  size: number;
  signal: AbortSignal;
  /** Its request was refused, or given up: nobody bills for it. */
  onRefused?: () => void;
}

/** One request to a channel as a span, named as OpenTelemetry's conventions have it. */
const tracedAttempt = <T>(
  { channelId, upstreamName }: Line<unknown>,
  first: () => boolean,
  attempt: (first: () => boolean) => Promise<T>,
): Promise<T> => {
  const about = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': upstreamName,
    'queqiao.channel': channelId,
  };
  return traced(`chat ${upstreamName}`, about, (span) => {
    let spoke = false;
    return attempt(() => {
      const wins = first();
      if (!spoke) span.addEvent(wins ? 'first word' : 'too late');
      spoke = true;
      return wins;
    });
  });
};

const run = async <E, T>(
  { lines, call, health, log }: LinesDeps<E>,
  asked: Asked,
  attempt: (line: Line<E>, signal: AbortSignal, first: () => boolean) => Promise<T>,
  { silence, full }: { silence: () => Error; full: () => Error },
): Promise<T> => {
  const { form, size, signal } = asked;
  const { model } = call;
  const note = { model, userId: call.userId, form, size };
  const ordered = await health.order(model, few(lines), call.userId);
  const free = await withRoom(ordered, health, call.gone ?? signal);
  if (free.length === 0) throw full();
  const since = new Map<Line<E>, number>();
  const ms = (line: Line<E>): number => performance.now() - (since.get(line) ?? 0);
  const end = new Map<Line<E>, () => void>();
  const ended = (line: Line<E>): void => end.get(line)?.();
  let winner: Line<E> | null = null;
  const onGone = (): void => {
    const { reason } = signal as { reason: unknown };
    const late = reason instanceof EngineError || reason instanceof RelayError;
    for (const line of since.keys()) if (winner === null || winner === line) ended(line);
    // Whoever asked gave up waiting for its next word.
    if (late && winner)
      health.failed(winner, note, channelFault(reason), ms(winner), reason.message);
  };
  signal.addEventListener('abort', onGone, { once: true });
  try {
    const answer = await race({
      lines: free,
      signal,
      gone: call.gone ?? signal,
      patience: ({ channelId }) =>
        health.words.patience(channelId, model, form, { size, longestMs: call.firstMs }),
      mayHedge: () => health.words.takeHedge(model),
      attempt: (line, cut, first) => tracedAttempt(line, first, (told) => attempt(line, cut, told)),
      silence,
      asked: (line) => {
        since.set(line, performance.now());
        end.set(line, health.begin(line.channelId));
        call.onLine?.(line);
      },
      won: (line, waited) => {
        winner = line;
        health.spoke(line, note, waited);
        call.onLine?.(line);
      },
      lost: (line, waited) => {
        ended(line);
        health.lost(line, note, waited);
      },
      failed: (line, error, first) => {
        ended(line);
        const fault = channelFault(error);
        health.failed(line, note, fault, ms(line), error.message);
        if (!first) asked.onRefused?.();
        const known = error instanceof EngineError || error instanceof RelayError;
        if (!known) log.error({ err: error, channel: line.channelId }, 'an engine broke');
        else if (fault.kind !== 'asker')
          log.warn(
            { channel: line.channelId, kind: fault.kind, status: fault.status },
            'a channel failed',
          );
        const retriable = !known || error.retriable || !error.askerAtFault;
        const sameChannel = ['key', 'money', 'doubt', 'full'].includes(fault.kind);
        return { retriable, sameChannel };
      },
    });
    if (winner) {
      ended(winner);
      health.answered(winner, note);
    }
    return answer;
  } finally {
    signal.removeEventListener('abort', onGone);
  }
};

export interface LinesDeps<E> {
  lines: readonly Line<E>[];
  call: LineCall;
  health: LineHealth;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

const nothingSaid = () => new EngineError('empty', streamCodes.empty, { retriable: true });

/** All lines of a model as one engine, which answers as long as one of them does. */
export const engineOfLines = (deps: LinesDeps<ChatEngine>): ChatEngine => ({
  write: (request, take) =>
    run(
      deps,
      {
        form: 'stream',
        size: request.messages.reduce((sum, { content }) => sum + textOf(content).length, 0),
        signal: request.signal,
        ...(request.onRefused && { onRefused: request.onRefused }),
      },
      async ({ engine, upstreamName }, signal, first) => {
        let said = false;
        await engine.write({ ...request, model: upstreamName, signal }, (parts) => {
          said ||= parts.some((part) => part.kind !== 'usage');
          if (said && first()) take(parts);
        });
        if (!said) throw nothingSaid();
      },
      {
        silence: () => new EngineError('timeout', streamCodes.timeout, { retriable: true }),
        full: () => new EngineError('rate_limited', streamCodes.rate_limited, { retriable: true }),
      },
    ),
});

/** The service said nothing for too long. */
export const tooLate = () =>
  new RelayError('模型长时间没有回应，请重试', { status: 504, code: 'timeout', retriable: true });

const noRoom = () =>
  new RelayError('模型服务繁忙，请稍后重试', {
    status: 429,
    code: 'rate_limit_exceeded',
    retriable: true,
  });

const empty = () =>
  new RelayError('模型没有返回内容，请重试', { status: 502, code: 'empty', retriable: true });

const hasMore = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== '';

/** Whether an event says something: the role that many begin with comes before the model has begun. */
const isWord = ({ chunk }: RelayEvent): boolean => {
  const [choice] = (chunk['choices'] ?? []) as {
    delta?: Record<string, unknown> | null;
    finish_reason?: unknown;
  }[];
  if (!choice) return false;
  // An answer that stops without a word is none, unless it had no room for one.
  if (hasMore(choice.finish_reason) && choice.finish_reason !== 'stop') return true;
  return Object.entries(choice.delta ?? {}).some(
    ([name, value]) => name !== 'role' && hasMore(value),
  );
};

const isEmpty = (error: unknown): boolean => error instanceof RelayError && error.code === 'empty';

/** Whether a whole answer stopped without a word. */
const saysNothing = (answer: Record<string, unknown>): boolean => {
  const choices = (answer['choices'] ?? []) as {
    message?: Record<string, unknown> | null;
    finish_reason?: unknown;
  }[];
  return !choices.some(
    ({ message, finish_reason: finish }) =>
      (hasMore(finish) && finish !== 'stop') ||
      Object.entries(message ?? {}).some(([name, value]) => name !== 'role' && hasMore(value)),
  );
};

/** The same for what programs ask in OpenAI's words. */
export const relayOfLines = (given: LinesDeps<ChatRelay>): ChatRelay => {
  const { words } = given.call;
  /** Those that can be asked this. @throws what the first of them cannot do, where none can do it */
  const able = (body: ChatBody): LinesDeps<ChatRelay> => {
    const reasons = given.lines.map(
      ({ engine }) => words?.unable(engine.kind) ?? engine.unable?.(body) ?? null,
    );
    const lines = given.lines.filter((_, at) => reasons[at] === null);
    const [reason] = reasons;
    if (lines.length === 0 && reason) throw reason;
    return { ...given, lines };
  };
  const put = (body: ChatBody, { engine, upstreamName }: Line<ChatRelay>): ChatBody => {
    const asked = { ...body, model: upstreamName };
    return words?.of(asked, engine.kind) ?? asked;
  };
  const sizeOf = (messages: readonly Record<string, unknown>[]): number =>
    messages.reduce((sum, { content }) => {
      if (typeof content === 'string') return sum + content.length;
      const parts = Array.isArray(content) ? (content as { text?: unknown }[]) : [];
      return parts.reduce(
        (all, { text }) => all + (typeof text === 'string' ? text.length : 0),
        sum,
      );
    }, 0);
  return {
    async complete(body, signal) {
      const deps = able(body);
      let wordless: Record<string, unknown> | null = null;
      try {
        return await run(
          deps,
          { form: 'whole', size: sizeOf(body.messages), signal },
          async (line, own) => {
            const answer = await line.engine.complete(put(body, line), own);
            if (saysNothing(answer)) {
              wordless = answer;
              throw empty();
            }
            return answer;
          },
          { silence: tooLate, full: noRoom },
        );
      } catch (error) {
        if (isEmpty(error) && wordless) return wordless;
        throw error;
      }
    },
    async stream(body, signal, take) {
      const deps = able(body);
      let wordless: RelayEvent[] = [];
      try {
        await run(
          deps,
          { form: 'stream', size: sizeOf(body.messages), signal },
          async (line, own, first) => {
            let held: RelayEvent[] = [];
            let said = false;
            await line.engine.stream(put(body, line), own, (events) => {
              if (said) return first() ? take(events) : undefined;
              held = [...held, ...events];
              said = held.some(isWord);
              if (!said || !first()) return undefined;
              const all = held;
              held = [];
              return take(all);
            });
            if (said) return;
            wordless = held;
            throw empty();
          },
          { silence: tooLate, full: noRoom },
        );
      } catch (error) {
        // Nobody has a word to say to it: that is what is told.
        if (!isEmpty(error) || wordless.length === 0) throw error;
        await take(wordless);
      }
    },
  };
};
