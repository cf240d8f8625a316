import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { thinkingByName } from '#common/thinking-models.ts';
import { chatServices, type ChatServiceKind } from './chat-service.ts';
import { fieldsOfThinking, thinkingFields } from './thinking.ts';

type Json = Record<string, unknown>;

const bodies: Json[] = [];
/** What the service refuses, by the field's name. */
let refuses = '';
let port = 0;

const server = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const body = JSON.parse(text) as Json;
    bodies.push(body);
    if (refuses in body) {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: { message: `unknown field ${refuses}` } }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const choices = [{ index: 0, delta: { content: '好' }, finish_reason: 'stop' }];
    response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
  })();
});
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.close();
});

/** The last request that left for this model, asked to think so long. */
const sent = async (
  kind: ChatServiceKind,
  model: string,
  choice: 'fast' | 'deep',
  maxTokens?: number,
): Promise<Json> => {
  const words = thinkingByName(model);
  if (words === null) throw new Error(`${model} has no choice`);
  const engine = chatServices[kind].engine({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k' });
  const asked = {
    model,
    messages: [{ role: 'user' as const, content: '你好' }],
    temperature: 0.7,
    presencePenalty: 0,
    frequencyPenalty: 0,
    thinking: { choice, words },
    ...(maxTokens === undefined ? {} : { maxTokens }),
    signal: AbortSignal.timeout(5000),
  };
  // Dialects do not understand the answer; what left is what counts.
  await engine.write(asked, () => {}).catch(() => undefined);
  return bodies.at(-1) ?? {};
};

const thoughtIn = (body: Json): Json =>
  Object.fromEntries(thinkingFields.filter((name) => name in body).map((n) => [n, body[n]]));

test.each<[string, Json, Json]>([
  ['o3-mini', { reasoning_effort: 'low' }, { reasoning_effort: 'high' }],
  ['gpt-5-mini', { reasoning_effort: 'minimal' }, { reasoning_effort: 'high' }],
  ['gpt-5.2', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['gpt-oss-120b', { reasoning_effort: 'low' }, { reasoning_effort: 'high' }],
  ['deepseek-chat', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['qwen3-32b', { enable_thinking: false }, { enable_thinking: true, thinking_budget: 16_384 }],
  ['Qwen/Qwen3-8B', { enable_thinking: false }, { enable_thinking: true, thinking_budget: 16_384 }],
  ['glm-4.6', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['kimi-k2.5', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['doubao-seed-1-6-250615', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['gemini-2.5-flash', { reasoning_effort: 'low' }, { reasoning_effort: 'high' }],
])('what leaves for %s says how long to think', async (model, fast, deep) => {
  expect(thoughtIn(await sent('openai-compatible', model, 'fast'))).toEqual(fast);
  expect(thoughtIn(await sent('openai-compatible', model, 'deep'))).toEqual(deep);
});

test('services with words of their own are told in those', async () => {
  const claude = await sent('anthropic', 'claude-sonnet-4-20250514', 'deep', 2000);
  // The answer keeps its length beside what is thought.
  expect(claude).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: 16_384 },
    max_tokens: 18_384,
  });
  expect(claude).not.toHaveProperty('temperature');
  expect(await sent('anthropic', 'claude-opus-4-6', 'deep')).toMatchObject({
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
  });
  expect(await sent('anthropic', 'claude-opus-4-6', 'fast')).toMatchObject({
    thinking: { type: 'disabled' },
  });
  for (const [choice, thinkingBudget] of [
    ['fast', 1024],
    ['deep', 16_384],
  ] as const)
    expect((await sent('gemini', 'gemini-2.5-pro', choice))['generationConfig']).toMatchObject({
      thinkingConfig: { thinkingBudget, includeThoughts: true },
    });
});

test('a service whose word counts for all of its models is known by its address, and a manager is obeyed', () => {
  const asked = (choice: 'fast' | 'deep') => ({ choice, words: 'switch' as const });
  const router = new URL('https://openrouter.ai/api/v1/chat/completions');
  expect(fieldsOfThinking(asked('fast'), 'qwen/qwen3-8b', router)).toEqual({
    reasoning: { enabled: false },
  });
  expect(fieldsOfThinking(asked('deep'), 'qwen/qwen3-8b', router)).toEqual({
    reasoning: { effort: 'high' },
  });
  const ollama = new URL('http://localhost:11434/v1/chat/completions');
  expect(fieldsOfThinking(asked('fast'), 'qwen3:8b', ollama)).toEqual({ reasoning_effort: 'none' });
  expect(fieldsOfThinking(asked('deep'), 'qwen3:8b', ollama)).toEqual({ reasoning_effort: 'high' });
  expect(fieldsOfThinking(asked('deep'), 'qwen3:8b', ollama, { enable_thinking: false })).toEqual(
    {},
  );
});

test('a field that a service refuses is left out', async () => {
  refuses = 'enable_thinking';
  const body = await sent('openai-compatible', 'qwen3-14b', 'fast');
  refuses = '';
  expect(thoughtIn(body)).toEqual({});
  expect(body['stream_options']).toBeDefined();
});

test('only those have the choice that can be told', () => {
  for (const name of [
    'gpt-4o',
    'gpt-5-chat-latest',
    'o1-preview',
    'deepseek-reasoner',
    'deepseek-r1',
    'qwen3-coder-plus',
    'qwen3-235b-a22b-thinking-2507',
    'qwen2.5-72b-instruct',
    'glm-4-plus',
    'claude-3-5-sonnet-20241022',
    'gemini-2.5-flash-image',
    'text-embedding-3-large',
    'builtin-assistant',
  ])
    expect([name, thinkingByName(name)]).toEqual([name, null]);
});
