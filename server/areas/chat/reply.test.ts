import { encodeChat } from 'gpt-tokenizer/model/gpt-4o';
import { expect, test } from 'vitest';
import { type ChatMessage, textOf } from '#common/chat-message.ts';
import type { ChatEngine } from '#server/engines/chat-engine.ts';
import { countTokens } from '#server/engines/tokens.ts';
import { Reply, type ReplyHooks, type ReplyRequest } from './reply.ts';

const silent = { warn: () => {}, error: () => {} };

type Say = (piece: string) => void;

const engineOf = (write: (say: Say, signal: AbortSignal) => Promise<void>): ChatEngine => ({
  write: ({ signal }, take) => write((piece) => take([{ kind: 'text', text: piece }]), signal),
});
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

const run = async (
  engines: ChatEngine[],
  {
    request = {},
    hooks = {},
  }: { request?: Partial<ReplyRequest>; hooks?: Partial<ReplyHooks> } = {},
) => {
  const answer = new Reply(
    {
      historyId: 1,
      sessionId: 1,
      sessionUuid: '00000000-0000-4000-8000-000000000001',
      userId: 1,
      human: 'q',
      temporary: false,
      model: { name: 'm', factor: 1, promptFactor: null, maxTokens: null },
      messages: [{ role: 'user', content: 'q' }],
      sampling: { temperature: 1, presencePenalty: 0, frequencyPenalty: 0 },
      holdId: null,
      held: 0,
      ...request,
    },
    { firstByteMs: 60, idleMs: 60, totalMs: 5000, size: 1000 },
    {
      engine: async () => engines[0] ?? null,
      onText: () => {},
      countTokens: async (texts, model) => texts.map((text) => countTokens(text, model)),
      fetchImage: async () => null,
      extendHold: async (more) => more,
      log: silent,
      ...hooks,
    },
  );
  return { answer, ended: await answer.write() };
};

test('our own count is within 2 % of what OpenAI reports', async () => {
  const zh = '鹊桥由喜鹊搭成，每年七月初七牛郎与织女在桥上相会，2026 年的这一天是 8 月 19 日。';
  const code = 'const sum = (list: number[]) => list.reduce((all, each) => all + each, 0);\n';
  const talk = Array.from({ length: 12 }, (_, at): ChatMessage[] => [
    { role: 'user', content: `${at}. ${zh.repeat((at % 3) + 1)}` },
    { role: 'assistant', content: `${code.repeat(at % 4)}The bridge carries ${at} feet.` },
  ]).flat();
  const messages: ChatMessage[] = [...talk, { role: 'user', content: '桥有多长？' }];
  const said = `${zh}${code}`.repeat(2);
  const { answer } = await run([engineOf(async (say) => say(said))], { request: { messages } });
  const ours = await answer.count(true);
  // By the rules that it has published for its chat completions.
  const asked = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
  const reported = encodeChat(asked).length;
  expect(Math.abs(ours.promptTokens / reported - 1), String(ours.promptTokens)).toBeLessThan(0.02);
  expect(ours.completionTokens).toBe(countTokens(said));
});

test('silence after the beginning ends it as a timeout', async () => {
  const hanging = engineOf(async (say, signal) => {
    say('开头');
    await untilAborted(signal);
  });
  const { ended } = await run([hanging]);
  expect(ended).toMatchObject({ state: 'error', error: { code: 'timeout' } });
});

test('a slow reply that goes on is not late, however long it takes', async () => {
  const slow = engineOf(async (say) => {
    for (let piece = 0; piece < 8; piece += 1) {
      say('慢');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  });
  expect((await run([slow])).ended).toEqual({ state: 'done', error: null });
});

test('an endless reply is cut at its size', async () => {
  const endless = engineOf(async (say, signal) => {
    while (!signal.aborted) say('x'.repeat(300));
  });
  const { answer, ended } = await run([endless]);
  expect(ended.error?.code).toBe('too_large');
  expect(answer.log.length).toBe(1000);
});

test('nothing at all is an error, and no service either', async () => {
  const empty = engineOf(async () => {});
  expect((await run([empty])).ended.error?.code).toBe('empty');
  expect((await run([])).ended.error?.code).toBe('upstream');
});

test('a reply that outgrows its hold asks for more and ends when there is none', async () => {
  const asked: number[] = [];
  const long = engineOf(async (say) => {
    for (let piece = 0; piece < 50; piece += 1) {
      say('很长的回复');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  const { ended } = await run([long], {
    request: { holdId: 'h', held: 20 },
    hooks: {
      extendHold: async (more) => {
        asked.push(more);
        return asked.length === 1 ? more : null;
      },
    },
  });
  expect(asked[0]).toBeGreaterThan(1000);
  expect(ended).toEqual({ state: 'done', error: null });

  const refused = await run([long], {
    request: { holdId: 'h', held: 20 },
    hooks: { extendHold: async () => null },
  });
  expect(refused.ended.error?.code).toBe('balance');
  expect(refused.answer.log.length).toBeGreaterThan(0);
  expect(refused.answer.log.length).toBeLessThan(250);
});

const mixed = [
  '鹊桥由喜鹊搭成，每年七月初七相会。',
  'const sum = list.reduce((all, each) => all + each, 0);',
  '| 2026-08-19 | 99.5 % | The bridge carries twelve feet |',
].join('\n');

test.each(['at once', 'in pieces'])(
  'a reply of mixed words that comes %s takes all that is left, and no more',
  async (way) => {
    const had = 300;
    let left = had - 40;
    let asked = 0;
    const words = mixed.repeat(9);
    const { answer, ended } = await run(
      [
        engineOf(async (say) => {
          if (way === 'at once') return say(words);
          for (const piece of words.match(/[^]{1,7}/gu)!) {
            say(piece);
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        }),
      ],
      {
        request: { holdId: 'h', held: 40 },
        hooks: {
          extendHold: async (more) => {
            asked += 1;
            const given = Math.min(more, left);
            left -= given;
            return given === 0 ? null : given;
          },
        },
      },
    );
    expect(ended.error?.code).toBe('balance');
    const { promptTokens, completionTokens } = await answer.count(false);
    expect(promptTokens + completionTokens).toBeLessThanOrEqual(had);
    expect(promptTokens + completionTokens).toBeGreaterThan(had * 0.9);
    expect(asked).toBe(2);
  },
);

test("a whole reply counts by the service's usage, a cut one by its text", async () => {
  const engine: ChatEngine = {
    write: async (_, take) =>
      take([
        { kind: 'text', text: 'hello world' },
        { kind: 'usage', promptTokens: 7, completionTokens: 60 },
        { kind: 'usage', promptTokens: -1, completionTokens: 1e15 },
      ]),
  };
  const { answer } = await run([engine]);
  expect(await answer.count(true)).toMatchObject({ promptTokens: 7, completionTokens: 60 });
  expect(await answer.count(false)).toMatchObject({ promptTokens: 7, completionTokens: 2 });
});

test('a service is believed as far as is likely, or as the hold pays', async () => {
  const engine: ChatEngine = {
    write: async (_, take) =>
      take([
        { kind: 'text', text: 'hello world' },
        { kind: 'usage', promptTokens: 4_000_000, completionTokens: 900_000 },
      ]),
  };
  const charged = async (held: number) => {
    const { answer } = await run([engine], { request: { held } });
    return { whole: await answer.count(true), cut: await answer.count(false) };
  };
  const small = await charged(0);
  expect(small.whole.completionTokens).toBe(4 * 2 + 64);
  expect(small.whole.promptTokens).toBeLessThan(200);
  expect(small.cut).toMatchObject({
    promptTokens: small.whole.promptTokens,
    completionTokens: 2,
  });
  const large = await charged(5000);
  expect(large.whole.promptTokens + large.whole.completionTokens).toBe(5000);
});

test('an engine is handed images, never their addresses', async () => {
  const seen: unknown[] = [];
  const engine: ChatEngine = {
    write: async ({ messages }, take) => {
      seen.push(messages[0]?.content);
      take([{ kind: 'text', text: '好' }]);
    },
  };
  const image = (url: string) =>
    ({ type: 'image_url', image_url: { url, detail: 'low' } }) as const;
  const content = ['data:image/png;base64,AA==', 'https://a.b/there.png', 'https://a.b/gone.png'];
  await run([engine], {
    request: { messages: [{ role: 'user', content: content.map(image) }] },
    hooks: {
      fetchImage: async (url) => (url.includes('there') ? 'data:image/jpeg;base64,BB==' : null),
    },
  });
  expect(seen).toEqual([
    [
      image('data:image/png;base64,AA=='),
      image('data:image/jpeg;base64,BB=='),
      { type: 'text', text: '（这里有一张读不到的图片）' },
    ],
  ]);
});
