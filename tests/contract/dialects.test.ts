import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embedMany, generateImage, generateText, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type ApiUser, apiUser } from '../support/api-user.ts';
import { claudeCodeHeaders, claudeCodeQuota, claudeCodeTurn } from '../support/claude-code.ts';
import { joined, TestClient } from '../support/client.ts';
import {
  type DialectService,
  signature,
  startDialectService,
  usage,
} from '../support/mock-dialects.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

/** The mouths of the public API over services with words of their own: all of them over all. */

let mock: MockOpenAi;
let service: DialectService;
let server: TestServer;
let user: ApiUser;
let anthropic: Anthropic;
let openai: OpenAI;
let manager: TestClient;

const claude = 'claude-sonnet-mock';
const gemini = 'gemini-9-mock';
const plain = 'mock-chat';
const thinker = 'qwen3-mock';
const weather = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};

beforeAll(async () => {
  mock = await startMockOpenAi();
  service = await startDialectService();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: `${plain},${thinker}`,
      SIGNUP_TOKENS: '100000000',
      API_REQUESTS: '100000',
      API_TOKENS: '100000000',
      CANVAS_SECONDS: '0',
    },
  });
  manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const channels = [
    ['anthropic', `${service.url}/v1`, 'sk-ant-test', claude],
    ['gemini', `${service.url}/v1beta`, 'g-key', gemini],
  ] as const;
  for (const [kind, base_url, api_key, name] of channels) {
    const trial = await manager.call('testChannel', { kind, base_url, api_key });
    expect(trial).toMatchObject({ ok: true, models: [{ name }] });
    const models = [{ name, factor: 1 }];
    await manager.call('saveChannel', { kind, base_url, api_key, label: kind, models });
  }
  const { list } = await manager.call('adminModelList', {});
  for (const { id, unique_key: name } of list)
    if ([claude, gemini, plain].includes(name))
      await manager.call('setModel', { id, api_max_tokens: 200_000 });
  user = await apiUser(server);
  anthropic = new Anthropic({ apiKey: user.key, baseURL: server.baseURL, maxRetries: 0 });
  openai = new OpenAI({ apiKey: user.key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await server?.stop();
  await service?.close();
  await mock?.close();
});

const balance = async () => (await user.person.call('userInfo', {})).chatgpt_balance;
const last = () => service.asked.at(-1)!;
const say = (content: string) => [{ role: 'user' as const, content }];

const failing = async (work: Promise<unknown>): Promise<APIError> => {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
};

describe("Anthropic's client", () => {
  test('lists the models to chat with in pages, each as Anthropic has it', async () => {
    const all = [];
    for await (const model of anthropic.models.list({ limit: 2 })) all.push(model);
    const names = all.map(({ id }) => id);
    expect(names).toEqual(expect.arrayContaining([claude, gemini, plain, thinker]));
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain('builtin-embedding');
    for (const { type, display_name: label, created_at: made } of all)
      expect([type, label !== '', Number.isNaN(Date.parse(made))]).toEqual(['model', true, false]);
    const { data, has_more: more, last_id: last } = await anthropic.models.list({ limit: 1 });
    expect([data.length, more, last]).toEqual([1, true, names[0]]);
    const before = await anthropic.models.list({ before_id: names[2]!, limit: 1 });
    expect(before.data.map(({ id }) => id)).toEqual([names[1]]);
    expect(await anthropic.models.retrieve(claude)).toMatchObject({ type: 'model', id: claude });
    expect((await failing(anthropic.models.retrieve('nobody'))).status).toBe(404);
    // Who does not say that it is one gets OpenAI's.
    expect((await openai.models.list()).data.map(({ object }) => object)).toContain('model');
  });

  test.each([
    [plain, 11, 7],
    [claude, 50, 30],
    [gemini, 40, 20],
  ])('asks %s, whole and in events, and pays what was used', async (model, asked, said) => {
    const before = await balance();
    const answer = await anthropic.messages.create({ model, max_tokens: 500, messages: say('好') });
    expect(answer).toMatchObject({ type: 'message', role: 'assistant', model });
    expect([answer.stop_reason, answer.stop_sequence]).toEqual(['end_turn', null]);
    expect([answer.usage.input_tokens, answer.usage.output_tokens]).toEqual([asked, said]);
    const text = answer.content.find((block) => block.type === 'text')?.text;
    const stream = anthropic.messages.stream({ model, max_tokens: 500, messages: say('好') });
    let grown = '';
    stream.on('text', (delta) => (grown += delta));
    const final = await stream.finalMessage();
    expect(grown).toBe(text);
    expect(final.content).toEqual(answer.content);
    expect(final.usage).toMatchObject(answer.usage);
    const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = answer.usage;
    const each = asked + said + (read ?? 0) + (written ?? 0);
    expect(before - (await balance())).toBe(2 * each);
  });

  test.each([plain, claude, gemini])(
    'calls tools of %s and tells what came of them',
    async (model) => {
      mock.always('tools');
      try {
        const tools = [{ name: 'weather', description: '天气', input_schema: weather }];
        const ask = { model, max_tokens: 500, tools };
        const first = await anthropic.messages.create({ ...ask, messages: say('北京的天气') });
        expect(first.stop_reason).toBe('tool_use');
        const call = first.content.find((block) => block.type === 'tool_use');
        expect(call).toMatchObject({ name: 'weather' });
        const streamed = await anthropic.messages
          .stream({ ...ask, messages: say('北京的天气') })
          .finalMessage();
        expect(streamed.stop_reason).toBe('tool_use');
        const again = streamed.content.find((block) => block.type === 'tool_use');
        expect([again?.name, again?.input]).toEqual(['weather', call?.input]);
        mock.always('normal');
        const second = await anthropic.messages.create({
          ...ask,
          messages: [
            ...say('北京的天气'),
            { role: 'assistant', content: first.content },
            {
              role: 'user',
              content: [
                {
                  type: 'tool_result',
                  tool_use_id: call!.id,
                  content: [{ type: 'text', text: '晴' }],
                },
              ],
            },
          ],
        });
        expect(second.stop_reason).toBe('end_turn');
        if (model === plain)
          expect(mock.lastRequest?.messages.at(-1)).toEqual({
            role: 'tool',
            tool_call_id: call!.id,
            content: '晴',
          });
      } finally {
        mock.always('normal');
      }
    },
  );

  test('what Claude Code sends is answered, and nothing of it leaves that is billed dearer', async () => {
    for (const model of [claude, plain, gemini]) {
      const response = await fetch(`${server.baseURL}/v1/messages?beta=true`, {
        method: 'POST',
        headers: {
          ...claudeCodeHeaders,
          'content-type': 'application/json',
          authorization: `Bearer ${user.key}`,
        },
        body: JSON.stringify(claudeCodeTurn(model, signature)),
      });
      const text = await response.text();
      expect([model, response.status, text.slice(0, 200)]).toEqual([
        model,
        200,
        expect.stringContaining('event: message_start'),
      ]);
      expect(response.headers.get('x-ignored-fields')).toContain('context_management');
      expect(text).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
      const quota = await anthropic.messages.create(claudeCodeQuota(model) as never);
      expect(quota.type).toBe('message');
    }
    const sent = service.asked.findLast(({ body }) => 'tools' in body && 'system' in body)!;
    expect(sent.headers['anthropic-beta']).toBe(
      'interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14',
    );
    const words = JSON.stringify(sent.body);
    expect(words).not.toContain('ttl');
    expect(words).not.toContain('user_6e0fd1b3');
    const { system, messages, tools, thinking } = sent.body as {
      system: unknown[];
      messages: { content: unknown[] }[];
      tools: unknown[];
      thinking: unknown;
    };
    const cache_control = { type: 'ephemeral' };
    expect(system.slice(1)).toEqual([
      expect.objectContaining({ cache_control }),
      expect.objectContaining({ cache_control }),
    ]);
    expect(tools).toHaveLength(16);
    expect(thinking).toEqual({ type: 'enabled', budget_tokens: 31_999 });
    expect(messages[1]?.content[0]).toEqual({
      type: 'thinking',
      thinking: '用 ls 就可以。',
      signature,
    });
    expect(messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_01A09q90qw90lq917835lq9',
        content: [{ type: 'text', text: 'README.md\nsrc' }],
        cache_control,
      },
    ]);
  });

  test('sees, thinks, counts, and is told failures in its own words', async () => {
    const image = {
      type: 'image' as const,
      source: {
        type: 'base64' as const,
        media_type: 'image/png' as const,
        data: onePixel.toString('base64'),
      },
    };
    const content = [image, { type: 'text' as const, text: '这是什么' }];
    const thinking = { type: 'enabled' as const, budget_tokens: 2000 };
    const seen = await anthropic.messages.create({
      model: claude,
      max_tokens: 4000,
      thinking,
      messages: [{ role: 'user', content }],
    });
    expect(seen.content[0]).toEqual({ type: 'thinking', thinking: '先想一想。', signature });
    expect(JSON.stringify(last().body)).toContain('"media_type":"image/');
    const { input_tokens: length } = await anthropic.messages.countTokens({
      model: plain,
      system: '你是助手',
      messages: say('你好，鹊桥'),
    });
    expect(length).toBeGreaterThan(8);
    expect(length).toBeLessThan(40);
    // What is thought beside the answer is bounded with it, and held for.
    const adaptive = { model: thinker, max_tokens: 50, messages: say('好') };
    await anthropic.messages.create({ ...adaptive, thinking: { type: 'adaptive' } });
    expect(mock.lastRequest).toMatchObject({
      max_tokens: 50,
      enable_thinking: true,
      thinking_budget: 50,
    });
    const calls = service.asked.length;
    const ask = { model: claude, max_tokens: 10, messages: say('好') };
    const missing = await failing(anthropic.messages.create({ ...ask, model: 'no-such' }));
    expect([missing.status, missing.error]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ]);
    const odd = await failing(anthropic.messages.create({ ...ask, mcp_servers: [{}] } as never));
    expect([odd.status, odd.message]).toEqual([400, expect.stringContaining('mcp_servers')]);
    const search = [{ type: 'web_search_20250305', name: 'web_search' }];
    expect(
      (await failing(anthropic.messages.create({ ...ask, tools: search } as never))).status,
    ).toBe(400);
    expect(service.asked.length).toBe(calls);
    service.fail(529, { type: 'overloaded_error', message: 'Overloaded SECRET' });
    const full = await failing(anthropic.messages.create(ask));
    expect([full.status, full.message]).toEqual([429, expect.not.stringContaining('SECRET')]);
    service.fail(400, { type: 'invalid_request_error', message: 'Your credit balance is too low' });
    const poor = await failing(anthropic.messages.create(ask));
    expect([poor.status, poor.message]).toEqual([502, expect.not.stringContaining('credit')]);
    const keyless = new Anthropic({ apiKey: 'none', baseURL: server.baseURL, maxRetries: 0 });
    expect((await failing(keyless.messages.create(ask))).error).toMatchObject({
      error: { type: 'authentication_error' },
    });
  });
});

describe("OpenAI's client over services with their own words", () => {
  test.each([
    [claude, 100, 30, 40, 0],
    [gemini, 60, 20, 20, 8],
  ])(
    '%s: whole and in events, with what was cached and thought',
    async (model, asked, said, cached, thought) => {
      const ask = { model, messages: say('好'), temperature: 0.5, stop: ['完'], seed: 7 };
      const answer = await openai.chat.completions.create(ask);
      const counted = {
        prompt_tokens: asked,
        completion_tokens: said,
        total_tokens: asked + said,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: thought },
      };
      expect(answer.usage).toMatchObject(counted);
      expect(answer.model).toBe(model);
      const stream = await openai.chat.completions.create({
        ...ask,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      let told: unknown;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        told = chunk.usage ?? told;
      }
      expect(text).toBe(answer.choices[0]?.message.content);
      expect(told).toMatchObject(counted);
      const response = await openai.responses.create({ model, input: '好' });
      expect(response.usage).toMatchObject({
        input_tokens_details: { cached_tokens: cached },
        output_tokens_details: { reasoning_tokens: thought },
      });
      const { length } = service.asked;
      const refused = await openai.chat.completions
        .create({ ...ask, logit_bias: { 1: 2 } })
        .catch((error: unknown) => error as InstanceType<typeof OpenAI.APIError>);
      expect(refused).toMatchObject({ status: 400, param: 'logit_bias' });
      expect(service.asked.length).toBe(length);
    },
  );

  test('tools and what was thought go there and back', async () => {
    const tools = [
      { type: 'function' as const, function: { name: 'weather', parameters: weather } },
    ];
    for (const model of [claude, gemini]) {
      const first = await openai.chat.completions.create({
        model,
        messages: say('北京的天气'),
        tools,
        reasoning_effort: 'medium',
      });
      const [choice] = first.choices;
      expect(choice?.finish_reason).toBe('tool_calls');
      const [call] = choice?.message.tool_calls ?? [];
      expect(call).toMatchObject({ function: { name: 'weather', arguments: '{"city":"北京"}' } });
      const second = await openai.chat.completions.create({
        model,
        tools,
        reasoning_effort: 'medium',
        messages: [
          ...say('北京的天气'),
          choice!.message,
          { role: 'tool', tool_call_id: call!.id, content: '晴' },
        ],
      });
      expect(second.choices[0]?.finish_reason).toBe('stop');
    }
    const sent = service.asked.slice(-3);
    expect(JSON.stringify(sent[0]?.body)).toContain(signature);
    expect(JSON.stringify(sent[2]?.body)).toContain(`"thoughtSignature":"${signature}"`);
    expect(JSON.stringify(sent[2]?.body)).toContain(
      '"functionResponse":{"name":"weather","response":{"result":"晴"}}',
    );
  });
});

test.each([claude, gemini])('the page talks with %s', async (model) => {
  const person = await TestClient.register(server.baseURL);
  await person.call('saveSettings', { tools: 0 });
  const { uuid, id } = await person.ask('你好，鹊桥', { model });
  const events = joined(await person.read(uuid, id));
  expect([events.done, events.error]).toEqual([true, null]);
  const { list } = await person.call('historyList', { session_id: uuid });
  const row = list.find((each) => each.id === id);
  expect(row).toMatchObject({ state: 'done', ai: events.text });
  const { input_tokens: input, cache_read_input_tokens: read } = usage;
  const used = model === claude ? input + read + 10 + usage.output_tokens : 80;
  expect(row?.deduct_tokens).toBe(used);
});

test("Vercel's SDK calls a tool and goes on, in both words", async () => {
  const tools = {
    weather: tool({
      description: '天气',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `${city}：晴`,
    }),
  };
  const { stepCountIs } = await import('ai');
  const stopWhen = stepCountIs(3);
  const own = createAnthropic({ apiKey: user.key, baseURL: `${server.baseURL}/v1` });
  const open = createOpenAICompatible({
    name: 'queqiao',
    apiKey: user.key,
    baseURL: `${server.baseURL}/v1`,
  });
  for (const model of [own(claude), open(claude), open(gemini)]) {
    const whole = await generateText({
      model,
      prompt: '北京的天气',
      tools,
      stopWhen,
      maxRetries: 0,
    });
    expect(whole.steps).toHaveLength(2);
    expect(whole.text).not.toBe('');
    const stream = streamText({ model, prompt: '北京的天气', tools, stopWhen, maxRetries: 0 });
    expect(await stream.text).toBe(whole.text);
  }
  // What else it asks in OpenAI's words.
  const { text } = await generateText({
    model: open.completionModel(plain),
    prompt: '月亮下面',
    maxRetries: 0,
  });
  expect(text).not.toBe('');
  const { embeddings } = await embedMany({
    model: open.embeddingModel('builtin-embedding'),
    values: ['月亮', '桥'],
    maxRetries: 0,
  });
  expect(embeddings.map(({ length }) => length)).toEqual([256, 256]);
  const { image } = await generateImage({
    model: open.imageModel('builtin-canvas'),
    prompt: '山',
    size: '512x512',
    maxRetries: 0,
  });
  expect(image.mediaType).toBe('image/png');
});

test('LangChain chats, streams, calls tools, makes vectors, and is told what is wrong', async () => {
  const configuration = { baseURL: `${server.baseURL}/v1` };
  const place = { apiKey: user.key, configuration, maxRetries: 0 };
  for (const model of [plain, claude, gemini]) {
    const chat = new ChatOpenAI({ ...place, model, streamUsage: true });
    const whole = await chat.invoke([
      ['system', '请简短地回答'],
      ['human', '你好'],
    ]);
    expect(whole.text, model).not.toBe('');
    expect(whole.usage_metadata?.total_tokens).toBeGreaterThan(0);
    let said = '';
    let tokens = 0;
    for await (const piece of await chat.stream('你好')) {
      said += piece.text;
      tokens += piece.usage_metadata?.total_tokens ?? 0;
    }
    expect(said, model).not.toBe('');
    expect(tokens).toBeGreaterThan(0);
    const [each, other] = await chat.batch(['你好', '再见']);
    expect([each?.text, other?.text]).not.toContain('');
    const able = chat.bindTools([
      { type: 'function', function: { name: 'weather', parameters: weather } },
    ]);
    mock.always('tools');
    const called = await able.invoke('北京的天气');
    mock.always('normal');
    const [call] = called.tool_calls ?? [];
    expect(call, model).toMatchObject({ name: 'weather', args: { city: expect.any(String) } });
    const ended = await able.invoke([
      { role: 'user', content: '北京的天气' },
      called,
      { role: 'tool', content: '晴，21 度', tool_call_id: call!.id! },
    ]);
    expect(ended.text, model).not.toBe('');
  }
  const vectors = new OpenAIEmbeddings({ ...place, model: 'builtin-embedding' });
  const [first, second] = await vectors.embedDocuments(['月亮', '太阳']);
  expect(first).toHaveLength(256);
  expect(first).not.toEqual(second);
  const wrong = new ChatOpenAI({ ...place, model: 'no-such-model' });
  await expect(wrong.invoke('你好')).rejects.toThrow(/没有模型/);
});

test("OpenAI's client goes on writing, moderates, and anybody ranks", async () => {
  for (const model of [plain, claude]) {
    const whole = await openai.completions.create({ model, prompt: '从前有座山', stop: ['完'] });
    expect(whole).toMatchObject({ object: 'text_completion', model });
    expect(whole.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop' });
    const stream = await openai.completions.create({
      model,
      prompt: ['从前有座山'],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let told: unknown;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      told = chunk.usage ?? told;
    }
    expect([text, told]).toEqual([whole.choices[0]?.text, whole.usage]);
  }
  const before = await balance();
  const raw = await openai.chat.completions
    .create({ model: plain, messages: say('好') })
    .asResponse();
  await raw.text();
  expect(raw.headers.get('x-deducted-tokens')).toBe(String(before - (await balance())));

  await manager.call('addBlockedWords', { words: ['坏词甲'] });
  // What is looked at in pieces hides no word between two of them.
  const between = `${'字'.repeat(1_999)}坏词甲`;
  const { results } = await openai.moderations.create({
    input: ['坏 词甲在里面', '好天气', between],
  });
  const much = openai.moderations.create({ input: Array(3).fill('\uFDFA'.repeat(40_000)) });
  await expect(much).rejects.toThrow('合计最多 100000 字');
  expect(results.map(({ flagged }) => flagged)).toEqual([true, false, true]);

  const answer = await fetch(`${server.baseURL}/v1/rerank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${user.key}` },
    body: JSON.stringify({
      model: 'builtin-embedding',
      query: '怎样申请退款',
      documents: ['今天的天气很好', { text: '申请退款的步骤' }, '停车场在地下'],
      top_n: 2,
      return_documents: true,
    }),
  });
  const ranked = (await answer.json()) as { results: { index: number; document: unknown }[] };
  expect(ranked.results).toHaveLength(2);
  expect(ranked.results[0]).toMatchObject({ index: 1, document: { text: '申请退款的步骤' } });
});

test('within a loop a Claude that thinks gets back what it signed, and thinks on', async () => {
  const thinks = 'claude-opus-4-5-mock';
  await manager.call('saveChannel', {
    kind: 'anthropic',
    base_url: `${service.url}/v1`,
    api_key: 'sk-ant-test',
    label: 'thinks',
    models: [{ name: thinks, factor: 0 }],
  });
  const person = await TestClient.register(server.baseURL);
  const { uuid } = await person.call('newSession', { type: 0, model: thinks });
  const before = service.asked.length;
  const { id } = await person.call('sendMessage', {
    session_id: uuid,
    msg: '北京今天的天气怎么样',
    thinking: 'deep',
  });
  await person.read(uuid, id);
  const [first, second, ...more] = service.asked.slice(before).map(({ body }) => body);
  expect(more).toEqual([]);
  expect(first?.['thinking']).toMatchObject({ type: 'enabled' });
  expect(second?.['thinking']).toEqual(first?.['thinking']);
  const turns = second?.['messages'] as { role: string; content: { type: string }[] }[];
  const called = turns.find(({ role }) => role === 'assistant');
  expect(called?.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
  expect(called?.content[0]).toEqual({ type: 'thinking', thinking: '先想一想。', signature });
  const { list } = await person.call('historyList', { session_id: uuid });
  // Of two rounds, as the service counts them.
  expect(list[0]).toMatchObject({ state: 'done', prompt_tokens: 200, cached_tokens: 80 });
});

test('within a loop Gemini gets its calls back as it signed them', async () => {
  const calls = 'gemini-3-mock';
  await manager.call('saveChannel', {
    kind: 'gemini',
    base_url: `${service.url}/v1beta`,
    api_key: 'g-key',
    label: 'calls',
    models: [{ name: calls, factor: 0 }],
  });
  const person = await TestClient.register(server.baseURL);
  const { uuid } = await person.call('newSession', { type: 0, model: calls });
  const { id } = await person.call('sendMessage', { session_id: uuid, msg: '请帮我算' });
  await person.read(uuid, id);
  const { contents } = last().body as { contents: { parts: object[] }[] };
  expect(contents.slice(-2).map(({ parts }) => parts)).toEqual([
    [{ functionCall: expect.anything(), thoughtSignature: signature }],
    [{ functionResponse: expect.anything() }],
  ]);
});
