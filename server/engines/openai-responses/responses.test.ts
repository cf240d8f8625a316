import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChatMessage } from '#common/chat-message.ts';
import type { Maker } from '#contract/makers.ts';
import type { ChatPart } from '../chat-engine.ts';
import { createEngineByModel, createRelayByModel } from './by-model.ts';

type Json = Record<string, unknown>;

let asked: { path: string; body: Json } | null = null;
let events: Json[] = [];
let whole: Json = {};
const service = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const body = JSON.parse(text) as Json;
    asked = { path: request.url ?? '', body };
    if (body['stream'] !== true) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(whole));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    for (const event of events)
      response.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end(request.url?.endsWith('completions') ? 'data: [DONE]\n\n' : '');
  })();
});
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    service.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  service.closeAllConnections();
  service.close();
});
const place = (maker?: Maker) => ({
  baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`,
  apiKey: 'k',
  ...(maker && { maker }),
});

const tools = [{ name: 'reckon', description: '精确计算', parameters: { type: 'object' } }];
const write = async (
  model: string,
  messages: ChatMessage[],
  maker: Maker | undefined = 'openai',
): Promise<ChatPart[]> => {
  const parts: ChatPart[] = [];
  await createEngineByModel(place(maker)).write(
    {
      model,
      messages,
      tools,
      temperature: 0.7,
      presencePenalty: 0,
      frequencyPenalty: 0,
      maxTokens: 500,
      thinking: { choice: 'deep', words: 'effort' },
      signal: AbortSignal.timeout(5000),
    },
    (more) => parts.push(...more),
  );
  return parts;
};

/** What a model of OpenAI's sends for two calls of one round. */
const seal = 'gAAAAABolQ2zHk7cXN4mC8p';
const reasoning = {
  id: 'rs_68b1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: '先算' }],
};
const usage = {
  input_tokens: 50,
  input_tokens_details: { cached_tokens: 32 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 70,
};
const call = (id: string, given: string, status: string) => ({
  id: `fc_${id}`,
  type: 'function_call',
  status,
  call_id: `call_${id}`,
  name: 'reckon',
  arguments: given,
});
const inPieces = (place: number, id: string, given: string): Json[] => [
  {
    type: 'response.output_item.added',
    output_index: place,
    item: call(id, '', 'in_progress'),
  },
  ...[given.slice(0, 6), given.slice(6)].map((delta) => ({
    type: 'response.function_call_arguments.delta',
    item_id: `fc_${id}`,
    output_index: place,
    delta,
  })),
  {
    type: 'response.function_call_arguments.done',
    item_id: `fc_${id}`,
    output_index: place,
    arguments: given,
  },
  {
    type: 'response.output_item.done',
    output_index: place,
    item: call(id, given, 'completed'),
  },
];
const response = (more: Json) => ({ id: 'resp_68b1', object: 'response', error: null, ...more });
const calling: Json[] = [
  { type: 'response.created', response: response({ status: 'in_progress', output: [] }) },
  { type: 'response.in_progress', response: response({ status: 'in_progress', output: [] }) },
  { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_68b1',
    output_index: 0,
    summary_index: 0,
    delta: '先算',
  },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { ...reasoning, encrypted_content: seal },
  },
  ...inPieces(1, 'a', '{"question":"1+1"}'),
  ...inPieces(2, 'b', '{"question":"2+2"}'),
  { type: 'response.completed', response: response({ status: 'completed', usage }) },
];
const question: ChatMessage = { role: 'user', content: '请算两个数' };

test('a model that knows Responses alone calls side by side, and gets back what it thought, sealed', async () => {
  events = calling;
  const parts = await write('gpt-5-pro', [{ role: 'system', content: '简短' }, question]);
  expect(asked).toEqual({
    path: '/v1/responses',
    body: {
      model: 'gpt-5-pro',
      input: [
        { role: 'developer', content: '简短' },
        { role: 'user', content: '请算两个数' },
      ],
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 500 + 16_384,
      tools: [{ type: 'function', ...tools[0], strict: false }],
      reasoning: { effort: 'high' },
    },
  });
  const calls = parts.filter((part) => part.kind === 'call');
  const given = (at: number) =>
    calls
      .filter(({ index }) => index === at)
      .map((each) => each.arguments)
      .join('');
  expect([given(0), given(1)]).toEqual(['{"question":"1+1"}', '{"question":"2+2"}']);
  expect(calls.map(({ id }) => id).filter(Boolean)).toEqual(['call_a', 'call_b']);
  expect(parts).toContainEqual({ kind: 'reasoning', text: '先算' });
  expect(parts.at(-1)).toMatchObject({
    kind: 'usage',
    promptTokens: 50,
    completionTokens: 20,
    cachedTokens: 32,
  });
  const signed = parts.flatMap((part) => (part.kind === 'signed' ? part.blocks : []));
  expect(signed).toEqual([{ ...reasoning, encrypted_content: seal }]);

  // The next round: what it thought before what it called, and each result to its call.
  events = [
    { type: 'response.created', response: response({ status: 'in_progress' }) },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: '2 与 4' },
    { type: 'response.completed', response: response({ status: 'completed', usage }) },
  ];
  const asks = ['a', 'b'].map((id, at) => ({
    id: `call_${id}`,
    name: 'reckon',
    arguments: given(at),
  }));
  const said = await write('gpt-5-pro', [
    question,
    { role: 'assistant', content: '', calls: asks, signed },
    { role: 'tool', callId: 'call_a', content: '2' },
    { role: 'tool', callId: 'call_b', content: '4' },
  ]);
  expect(said[0]).toEqual({ kind: 'text', text: '2 与 4' });
  expect(asked?.body['input']).toEqual([
    { role: 'user', content: '请算两个数' },
    signed[0],
    ...asks.map(({ id, name, arguments: words }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: words,
    })),
    { type: 'function_call_output', call_id: 'call_a', output: '2' },
    { type: 'function_call_output', call_id: 'call_b', output: '4' },
  ]);
});

test('all other models, and those of other makers, are asked as before; failures and limits are told', async () => {
  events = [{ choices: [{ index: 0, delta: { content: '好' }, finish_reason: 'stop' }] }];
  for (const [model, maker] of [
    ['gpt-5-mini', 'openai'],
    ['o3-pro', 'new-api'],
  ] as const) {
    await write(model, [question], maker);
    expect(asked?.path, model).toBe('/v1/chat/completions');
  }
  const created = { type: 'response.created', response: response({ status: 'in_progress' }) };
  const failed = { code: 'server_error', message: 'secret words' };
  events = [
    created,
    { type: 'response.failed', response: { ...response({ status: 'failed' }), error: failed } },
  ];
  const error = (await write('o3-pro', [question]).catch((why: unknown) => why)) as Error;
  expect(error).toMatchObject({ code: 'upstream', retriable: true });
  expect(error.message).not.toContain('secret');
  events = [
    created,
    { type: 'response.output_text.delta', output_index: 0, delta: '写到' },
    {
      type: 'response.incomplete',
      response: response({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        usage,
      }),
    },
  ];
  await expect(write('o3-pro', [question])).rejects.toMatchObject({ code: 'too_large' });
  // A line that breaks before the end is no whole answer.
  events = [created, { type: 'response.output_text.delta', output_index: 0, delta: '写到' }];
  await expect(write('o3-pro', [question])).rejects.toMatchObject({ code: 'upstream' });
});

test('programs get whole answers in the words that they asked in, and are told what has none', async () => {
  const relay = createRelayByModel(place('openai'));
  whole = response({
    status: 'completed',
    output: [
      { ...reasoning, encrypted_content: seal },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '好' }] },
      call('a', '{}', 'completed'),
    ],
    usage,
  });
  const body = { model: 'codex-mini-latest', messages: [{ role: 'user', content: '好' }] };
  const answer = await relay.complete(
    { ...body, temperature: 0.2, response_format: { type: 'json_object' } },
    AbortSignal.timeout(5000),
  );
  expect(asked?.body).toMatchObject({
    temperature: 0.2,
    text: { format: { type: 'json_object' } },
  });
  expect(answer['choices']).toMatchObject([
    {
      finish_reason: 'tool_calls',
      message: {
        content: '好',
        reasoning_content: '先算',
        tool_calls: [{ id: 'call_a', function: { name: 'reckon', arguments: '{}' } }],
      },
    },
  ]);
  expect(answer['usage']).toMatchObject({
    prompt_tokens: 50,
    completion_tokens_details: { reasoning_tokens: 8 },
  });
  expect(relay.unable?.({ ...body, stop: ['。'] })).toMatchObject({ param: 'stop', status: 400 });
  expect(relay.unable?.({ ...body, n: 1, seed: null })).toBeNull();
  expect(relay.unable?.({ ...body, model: 'gpt-5-mini', stop: ['。'] })).toBeNull();
});
