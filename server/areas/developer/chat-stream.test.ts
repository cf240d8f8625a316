import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { Refusal } from '#server/http/handlers.ts';
import { countTokens } from '#server/engines/tokens.ts';
import { holdLifetime } from '../ledger/ledger.service.ts';
import type { Asking, ChatWorks } from './chat-asking.ts';
import { streamAnswer } from './chat-stream.ts';

afterEach(() => void vi.useRealTimers());

type Take = (events: { data: string; chunk: object }[]) => Promise<void> | void;

/** Asks a service for a stream whose answer is to be paid. */
const asked = async (
  service: (signal: AbortSignal, take: Take) => Promise<void>,
  charge: { held: number; extend: (more: number) => Promise<number> },
) => {
  const works = {
    models: {
      relay: async () => ({
        stream: (_body: unknown, signal: AbortSignal, take: Take) => service(signal, take),
      }),
    },
    gate: { addTokens: () => undefined },
    silenceMs: 60_000,
    count: async (_asking: unknown, _told: unknown, said: string) => ({
      promptTokens: 1,
      completionTokens: countTokens(said),
    }),
    log: { warn: () => undefined, error: () => undefined },
  } as unknown as ChatWorks;
  const settle = vi.fn(async (counted: { completionTokens: number }) => counted.completionTokens);
  const { signal } = new AbortController();
  const asking = {
    context: { caller: { user: { id: 1 } }, signal, header: () => undefined },
    signal,
    model: { name: 'm', factor: 1, promptFactor: null },
    body: {},
    charge: { settle, extend: charge.extend, servedBy: () => undefined },
    held: charge.held,
    rough: 1,
    sent: false,
    channelId: null,
  } as unknown as Asking;
  const answer = await streamAnswer(works, asking, {
    write: ({ chunk }) => {
      const [choice] = chunk['choices'] as { delta: { content: string } }[];
      return choice?.delta.content ?? '';
    },
    end: () => '完',
  });
  if (!('events' in answer)) throw new Error('it is no stream');
  return { settle, events: answer.events };
};

const saying = (content: string) => ({ data: '', chunk: { choices: [{ delta: { content } }] } });

test('a stream that is read slowly ends before what is set aside for it does, and is billed', async () => {
  vi.useFakeTimers();
  /** A service that has always more to say, as fast as it is taken. */
  const endless = async (signal: AbortSignal, take: Take): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      await take([saying('桥')]);
    }
  };
  const begun = Date.now();
  const { settle, events } = await asked(endless, {
    held: 1_000_000,
    extend: async (more) => more,
  });
  const said: string[] = [];
  // Its reader takes a little once in a while: too often to be called silent.
  const sink = Object.assign(new EventEmitter(), {
    write: (frame: string) => {
      said.push(frame);
      setTimeout(() => sink.emit('drain'), 30_000);
      return false;
    },
    end: () => undefined,
  });
  let ended = 0;
  const reading = events({ sink: sink as never, failure: ({ message }) => message }).then(
    () => (ended = Date.now()),
  );
  await vi.advanceTimersByTimeAsync(2 * holdLifetime);
  expect(ended - begun).toBeGreaterThan(0);
  expect(ended - begun).toBeLessThan(holdLifetime);
  await reading;
  expect(said.at(-1)).toContain('回答用的时间太长');
  const pieces = said.filter((frame) => frame === '桥').length;
  expect(settle).toHaveBeenCalledOnce();
  expect(settle.mock.calls[0]?.[0].completionTokens).toBeGreaterThanOrEqual(pieces);
});

const mixed = [
  '鹊桥由喜鹊搭成，每年七月初七相会。',
  'const sum = list.reduce((all, each) => all + each, 0);',
  '| 2026-08-19 | 99.5 % | The bridge carries twelve feet |',
].join('\n');

test.each([
  ['at once', /[^]+/gu, 9],
  ['in pieces', /[^]{1,7}/gu, 9],
  ['at once, to its last word', /[^]+/gu, 5],
] as const)(
  'an answer that comes %s is cut where all that is left is used up',
  async (_, size, times) => {
    const words = mixed.repeat(times);
    // A rough count has it that the shorter one does not fit.
    const had = times < 9 ? 1 + countTokens(words) : 300;
    let left = had - 40;
    const pieces = words.match(size) ?? [];
    const { settle, events } = await asked(
      async (signal, take) => {
        for (const piece of pieces) {
          signal.throwIfAborted();
          await take([saying(piece)]);
        }
        await take([
          { data: '', chunk: { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } } },
        ]);
      },
      {
        held: 40,
        extend: async (more) => {
          const given = Math.min(more, left);
          left -= given;
          if (given === 0) throw new Refusal('balance');
          return given;
        },
      },
    );
    const said: string[] = [];
    const sink = Object.assign(new EventEmitter(), {
      write: (frame: string) => said.push(frame) > 0,
      end: () => undefined,
    });
    await events({ sink: sink as never, failure: ({ codeName }) => `!${codeName}` });
    const whole = said.join('');
    const fits = 1 + countTokens(words) <= had;
    expect(whole.endsWith(fits ? '完' : '!balance'), whole).toBe(true);
    const shown = whole.slice(0, whole.lastIndexOf(fits ? ': ' : '!'));
    expect(settle).toHaveBeenCalledOnce();
    const { completionTokens } = settle.mock.calls[0]![0];
    expect(1 + completionTokens).toBeLessThanOrEqual(had);
    if (fits) return expect(shown.startsWith(words)).toBe(true);
    expect(words.startsWith(shown)).toBe(true);
    expect(completionTokens).toBe(countTokens(shown));
    expect(completionTokens).toBeGreaterThan(had * 0.9);
  },
);
