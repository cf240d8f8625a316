import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message, ReplyState } from '#contract/chat.ts';
import type { StreamCode } from '#contract/page-errors.ts';
import { joined, TestClient } from '../support/client.ts';
import { type MockOpenAi, type Scenario, startMockOpenAi } from '../support/mock-openai.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Every way in which a model service may answer, and how a reply then ends for its reader. */

let mock: MockOpenAi;
let server: TestServer;
let person: TestClient;
const key = `sk-${randomUUID()}`;

beforeAll(async () => {
  mock = await startMockOpenAi();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: key,
      OPENAI_MODELS: 'mock-chat',
      SIGNUP_TOKENS: '100000000',
      MODEL_FIRST_WORD_SECONDS: '2',
      MODEL_IDLE_SECONDS: '2',
    },
  });
  person = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server?.stop();
  await mock?.close();
});

interface Outcome {
  events: ReturnType<typeof joined>;
  row: Message;
  spent: number;
  calls: number;
}

const ask = async (msg: string): Promise<Outcome> => {
  const balance = async () => (await person.call('userInfo', {})).chatgpt_balance;
  const [before, calls] = [await balance(), mock.calls];
  const { uuid, id } = await person.ask(msg, { model: 'mock-chat' });
  const events = joined(await person.read(uuid, id));
  const { list } = await person.call('historyList', { session_id: uuid });
  const row = list.find((each) => each.id === id);
  if (!row) throw new Error('the message is not in the history');
  return { events, row, spent: before - (await balance()), calls: mock.calls - calls };
};

const prompt = (scenario: Scenario) => `[[mock ${scenario}]] 你好，鹊桥`;

interface Expected {
  state: ReplyState;
  error?: StreamCode;
  /** Of the service's whole text: all of it, its beginning, or none. */
  text: 'whole' | 'part' | 'none';
  /** Tokens taken: the service's own count, our count, or nothing. */
  charge: 'usage' | 'counted' | 'none';
}

const usage = 11 + 7;
const whole = { state: 'done', text: 'whole', charge: 'usage' } as const;
const failed = (error: StreamCode) =>
  ({ state: 'error', error, text: 'none', charge: 'none' }) as const;
const broken = (error: StreamCode) =>
  ({ state: 'error', error, text: 'part', charge: 'counted' }) as const;

const table: Partial<Record<Scenario, Expected>> = {
  normal: whole,
  'no-usage': { ...whole, charge: 'counted' },
  'no-tokens': { ...whole, charge: 'counted' },
  'no-done': whole,
  reasoning: whole,
  split: whole,
  crlf: whole,
  comments: whole,
  json: whole,
  'no-stream-options': whole,
  'cut-usage': { ...whole, charge: 'counted' },
  length: broken('too_large'),
  'content-filter': broken('upstream'),
  'no-finish': broken('upstream'),
  'error-event': broken('upstream'),
  'cut-middle': broken('upstream'),
  'garbage-middle': broken('upstream'),
  'hang-middle': broken('timeout'),
  context: failed('context_length_exceeded'),
  'context-llama': failed('context_length_exceeded'),
};

describe('a reply over the OpenAI protocol', () => {
  test.each(Object.entries(table) as [Scenario, Expected][])('%s', async (scenario, expected) => {
    const said = prompt(scenario);
    const { events, row, spent } = await ask(said);
    const text = mock.textFor(said);

    expect(row.state).toBe(expected.state);
    expect(row.error_code).toBe(expected.error ?? '');
    expect(events.error?.code).toBe(expected.error);
    // The last resort: only where the service itself would not take so much.
    expect(events.error?.message.includes('请新建会话后继续') ?? false).toBe(
      expected.error === 'context_length_exceeded',
    );
    expect(events.done).toBe(true);
    // What was streamed is what is kept.
    expect(events.text).toBe(row.ai);
    expect(events.reasoning).toBe(row.reasoning);

    if (expected.text === 'whole') expect(row.ai).toBe(text);
    else if (expected.text === 'none') expect(row.ai).toBe('');
    else {
      expect(row.ai.length).toBeGreaterThan(0);
      expect(row.ai.length).toBeLessThan(text.length);
      expect(text.startsWith(row.ai)).toBe(true);
    }
    if (scenario === 'reasoning') expect(row.reasoning).toBe('先想一想，再回答。');

    expect(spent).toBe(row.deduct_tokens);
    if (expected.charge === 'usage') expect(spent).toBe(usage);
    else if (expected.charge === 'none') expect(spent).toBe(0);
    else expect(spent).toBeGreaterThan(5);
    // A good reply in between keeps the breaker shut.
    if (expected.state === 'error') await ask('[[mock json]] 你好');
    // Neither key nor the service's own words get to people.
    expect(JSON.stringify([events, row])).not.toMatch(/SECRET|sk-/);
  });

  test('carries what the person chose, and the key', async () => {
    await person.call('saveSettings', { temperature: 5, presence_penalty: 5, max_history: 1 });
    const { uuid, id } = await person.ask('第一个问题', { model: 'mock-chat' });
    await person.read(uuid, id);
    const next = await person.ask('第二个问题', { sessionId: uuid });
    await person.read(uuid, next.id);
    expect(mock.lastAuthorization).toBe(`Bearer ${key}`);
    expect(mock.lastRequest).toMatchObject({
      model: 'mock-chat',
      stream: true,
      temperature: 0.5,
      presence_penalty: 1,
    });
    expect(mock.lastRequest?.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  test('asks the service once for each message', async () => {
    expect((await ask('只问一次，谢谢')).calls).toBe(1);
  });

  test('leaves a service alone as soon as the reply is stopped', async () => {
    const { uuid, id } = await person.ask(`[[bench tokens=5000 rate=50 id=stop]]`, {
      model: 'mock-chat',
    });
    await person.read(uuid, id, {
      onEvent: ({ data }) => {
        if (data !== '[DONE]') void person.call('stopStream', { history_id: id });
      },
    });
    await expect.poll(() => mock.active, { timeout: 3000 }).toBe(0);
    const { list } = await person.call('historyList', { session_id: uuid });
    expect(list[0]).toMatchObject({ state: 'stopped' });
    expect(list[0]?.deduct_tokens).toBeGreaterThan(0);
  });
});

describe('the models of a service', () => {
  test('are listed as named, after them the built-in ones', async () => {
    const { models } = await new TestClient(server.baseURL).call('models', {});
    expect(models.map(({ name, built_in, factor }) => ({ name, built_in, factor }))).toEqual([
      { name: 'mock-chat', built_in: false, factor: 1 },
      { name: 'builtin-assistant', built_in: true, factor: 0 },
      { name: 'builtin-canvas', built_in: true, factor: 0 },
      { name: 'builtin-film', built_in: true, factor: 0 },
      { name: 'builtin-voice', built_in: true, factor: 0 },
    ]);
    expect(JSON.stringify(models)).not.toContain('sk-');
  });

  test('are asked for in the background, those for embeddings are not offered, and vanish with it', async () => {
    const asked = await startServer({ env: { OPENAI_BASE_URL: mock.baseURL } });
    const builtIn = ['builtin-assistant', 'builtin-canvas', 'builtin-film', 'builtin-voice'];
    try {
      const names = async ({ baseURL }: TestServer) =>
        (await new TestClient(baseURL).call('models', {})).models.map((model) => model.name);
      await expect

        .poll(() => names(asked), { timeout: 10_000 })
        .toEqual(['mock-mini', 'mock-chat', 'whisper-mock', 'tts-mock', ...builtIn]);
      await asked.kill9();
      // Without the service in the environment only what is built in is left; with one that cannot
      // be reached the start is not held up, and what it had stays.
      const without = await startServer({
        databaseUrl: asked.databaseUrl,
        dataDir: asked.dataDir,
      });
      expect(await names(without)).toEqual(builtIn);
      await without.stop();
      const unreachable = await startServer({
        databaseUrl: asked.databaseUrl,
        dataDir: asked.dataDir,
        env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
      });
      expect(await names(unreachable)).toContain('builtin-assistant');
      expect(await names(unreachable)).toContain('mock-chat');
      await unreachable.stop();
    } finally {
      await asked.stop();
    }
  });
});
