import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import { joined } from '../support/client.ts';
import { type MockOpenAi, type Scenario, startMockOpenAi } from '../support/mock-openai.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { TestClient } from '../support/client.ts';

/** Every way to fail before the first word, at one of two channels: the other one answers. */

let bad: MockOpenAi;
let good: MockOpenAi;
let server: TestServer;
let user: ApiUser;
let openai: OpenAI;
let manager: TestClient;

const faults: readonly Scenario[] = [
  'hang-before',
  'hang-first',
  'slow',
  '500',
  'cut-before',
  'cut-first',
  'garbage',
  'html',
  'empty',
  'no-model',
  '429',
  '429-bare',
  '403',
  'quota',
  '401',
];
const modelOf = (fault: string) => `heal-${fault}`;

beforeAll(async () => {
  bad = await startMockOpenAi();
  good = await startMockOpenAi();
  server = await startServer({
    env: {
      SIGNUP_TOKENS: '100000000',
      MODEL_HEDGE_MS: '150',
      MODEL_FIRST_WORD_SECONDS: '4',
      API_REQUESTS: '100000',
    },
  });
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  for (const [label, mock, priority, keys] of [
    ['坏的', bad, 0, 'sk-bad-key-one-1111\nsk-bad-key-two-2222'],
    ['好的', good, 1, 'sk-good-key-3333'],
  ] as const)
    await manager.call('saveChannel', {
      kind: 'openai-compatible',
      base_url: mock.baseURL,
      label,
      priority,
      api_key: keys,
      models: [...faults.map((fault) => ({ name: modelOf(fault) })), { name: 'heal-money' }],
    });
  user = await apiUser(server);
  openai = new OpenAI({ baseURL: `${server.baseURL}/v1`, apiKey: user.key, maxRetries: 0 });
});
afterAll(async () => {
  await server?.stop();
  await bad?.close();
  await good?.close();
});

const waysOf = (model: string): Record<string, (said: string) => Promise<string>> => ({
  page: async (said) => {
    const { uuid, id } = await user.person.ask(said, { model });
    const { text, error } = joined(await user.person.read(uuid, id));
    expect(error).toBeNull();
    return text;
  },
  stream: async (said) => {
    let text = '';
    const stream = await openai.chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content: said }],
    });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  whole: async (said) => {
    const answer = await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: said }],
    });
    return answer.choices[0]?.message.content ?? '';
  },
});

describe.each(faults)('a channel that does this: %s', (fault) => {
  test('no call fails that the other one can answer, and soon none waits', async () => {
    bad.always(fault);
    for (const [way, ask] of Object.entries(waysOf(modelOf(fault)))) {
      const times: number[] = [];
      for (let turn = 0; turn < 6; turn += 1) {
        const said = `${way} ${turn} 你好`;
        const begun = performance.now();
        expect(await ask(said), `${fault} ${way} ${turn}`).toBe(good.textFor(said));
        times.push(performance.now() - begun);
      }
      // The deadline, 4 s, is what each cost where nothing was learned.
      expect(Math.max(...times.slice(3)), `${fault} ${way}`).toBeLessThan(2500);
    }
  });
});

test('keys that are refused are set aside with their reason, and a manager sees it', async () => {
  await expect
    .poll(
      async () =>
        (
          await onDatabase(
            server,
            `SELECT DISTINCT key_hint FROM channel_lines
             WHERE aside_reason = 'key' AND aside_until > now()`,
          )
        ).length,
      { timeout: 8_000 },
    )
    .toBe(2);
  const before = bad.calls;
  for (let turn = 0; turn < 4; turn += 1) await waysOf('heal-money')['stream']!(`${turn}`);
  // Set aside for all models: nobody asks with them any more.
  expect(bad.calls).toBe(before);
});

test('who gets one answer pays for one, though two were asked', async () => {
  bad.always('normal');
  await onDatabase(server, `UPDATE channel_lines SET aside_until = NULL`);
  const [price] = await onDatabase<{ sum: string }>(
    server,
    `SELECT sum(deduct_prompt + deduct_completion)::text AS sum FROM api_usage
     WHERE model = $1 AND user_id = $2`,
    [modelOf('slow'), user.userId],
  );
  const [plain] = await onDatabase<{ sum: string }>(
    server,
    `SELECT sum(deduct_prompt + deduct_completion)::text AS sum FROM api_usage
     WHERE model = $1 AND user_id = $2`,
    [modelOf('500'), user.userId],
  );
  expect(price?.sum).toBe(plain?.sum);
  const [cut] = await onDatabase<{ calls: string }>(
    server,
    `SELECT sum(cut_calls)::text AS calls FROM channel_lines WHERE model = $1`,
    [modelOf('slow')],
  );
  expect(Number(cut?.calls)).toBeGreaterThan(0);
});
