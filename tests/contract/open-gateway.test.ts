import OpenAI, { type APIError, toFile } from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import { bodyOf, type FakeService, listen, reply } from '../support/fake-service.ts';
import { TestClient } from '../support/client.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';

/** What the public API does beside passing chats on: prices, the log of calls, stored responses. */

interface Sent {
  stream?: boolean;
  messages: { role: string; content: unknown }[];
}

let service: FakeService;
let server: TestServer;
let user: ApiUser;
let client: OpenAI;
const sent: Sent[] = [];
const model = 'priced-chat';

const usage = {
  prompt_tokens: 100,
  completion_tokens: 30,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 80 },
  completion_tokens_details: { reasoning_tokens: 12 },
};
const answerTo = (body: Sent): string => {
  const last = body.messages.at(-1)?.content;
  return typeof last === 'string' ? `答：${last}` : '答';
};

beforeAll(async () => {
  service = await listen(async (request, response) => {
    const data = await bodyOf(request);
    if (request.url?.endsWith('/audio/transcriptions'))
      return reply(response, 200, { text: '月亮很亮' });
    if (request.method !== 'POST') return reply(response, 200, { data: [] });
    const body = JSON.parse(data.toString()) as Sent;
    sent.push(body);
    const text = answerTo(body);
    if (!body.stream)
      return reply(response, 200, {
        id: 'c1',
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
        ],
        usage,
      });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (rest: object) =>
      response.write(`data: ${JSON.stringify({ id: 'c1', ...rest })}\n\n`);
    for (const content of text.match(/.{1,8}/gsu) ?? [])
      event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    event({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  });
  server = await startServer({
    env: {
      OPENAI_BASE_URL: `${service.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: `${model},whisper-1`,
      SIGNUP_TOKENS: '1000000',
      CANVAS_SECONDS: '0',
    },
  });
  user = await apiUser(server);
  client = clientOf(user.key);
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const { list } = await manager.call('adminModelList', {});
  const { id } = list.find((each) => each.unique_key === model)!;
  await manager.call('setModel', { id, factor: 2, prompt_factor: 1, cached_factor: 0.1 });
});
afterAll(async () => {
  await server.stop();
  await service.close();
});

const clientOf = (key: string) =>
  new OpenAI({ apiKey: key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
const messages = [{ role: 'user' as const, content: '你好' }];
const failing = (work: Promise<unknown>): Promise<APIError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error as APIError,
  );
/** 20 × 1, 80 × 0.1 and 30 × 2. */
const price = 88;

test('what a service read from its cache has its own price, told in headers and on the usage page', async () => {
  const whole = await client.chat.completions.create({ model, messages }).withResponse();
  const { headers } = whole.response;
  expect(headers.get('x-deducted-tokens')).toBe(String(price));
  expect(Number(headers.get('x-price-yuan'))).toBeCloseTo((price / 1_000_000) * 20, 10);
  expect(whole.data.usage).toMatchObject(usage);
  const streamed = await fetch(`${server.baseURL}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  expect(await streamed.text()).toMatch(/^: x-deducted-tokens 88, x-price-yuan 0\.00176$/m);
  const { list } = await user.person.call('apiUsage', {});
  expect(list.find((row) => row.model === model)).toMatchObject({
    count: 2,
    cached_tokens: 160,
    reasoning_tokens: 24,
    deduct_tokens: 2 * price,
    yuan: (2 * price) / 50_000,
  });
  const listed = (await client.models.retrieve(model)) as unknown as { yuan_per_million: unknown };
  expect(listed.yuan_per_million).toEqual({ prompt: 20, cached_prompt: 2, completion: 40 });
});

test('a response is gone on from by its key alone, until it is deleted', async () => {
  const first = await client.responses.create({ model, input: '我叫小明', instructions: '简短' });
  expect(first.usage).toMatchObject({
    input_tokens_details: { cached_tokens: 80 },
    output_tokens_details: { reasoning_tokens: 12 },
  });
  const stream = await client.responses.create({
    model,
    input: '我叫什么？',
    previous_response_id: first.id,
    stream: true,
  });
  let second: OpenAI.Responses.Response | undefined;
  for await (const event of stream)
    if (event.type === 'response.completed') second = event.response;
  expect(second?.previous_response_id).toBe(first.id);
  await client.responses.create({ model, input: '再说一遍', previous_response_id: second!.id });
  // What one was told to do is told for it alone.
  expect(sent.at(-1)?.messages.map(({ role, content }) => [role, JSON.stringify(content)])).toEqual(
    [
      ['user', expect.stringContaining('我叫小明')],
      ['assistant', expect.stringContaining('答：')],
      ['user', expect.stringContaining('我叫什么？')],
      ['assistant', expect.stringContaining('答：')],
      ['user', expect.stringContaining('再说一遍')],
    ],
  );
  expect(await client.responses.retrieve(second!.id)).toMatchObject({
    id: second!.id,
    store: true,
  });

  const items = [];
  for await (const item of client.responses.inputItems.list(first.id)) items.push(item);
  expect(items).toMatchObject([{ type: 'message', role: 'user', content: '我叫小明' }]);

  const { full_key: another } = await user.person.call('genKey', {});
  const stranger = await apiUser(server);
  for (const key of [another, stranger.key]) {
    const other = clientOf(key);
    expect((await failing(Promise.resolve(other.responses.retrieve(first.id)))).status).toBe(404);
    expect((await failing(Promise.resolve(other.responses.delete(first.id)))).status).toBe(404);
    const asking = Promise.resolve(other.responses.inputItems.list(first.id));
    expect((await failing(asking)).status).toBe(404);
    const asked = { model, input: '他叫什么？', previous_response_id: first.id };
    expect((await failing(other.responses.create(asked))).code).toBe('previous_response_not_found');
  }
  const private_ = await client.responses.create({ model, input: '不要保存', store: false });
  expect(private_.id).not.toBe('');
  expect((await failing(Promise.resolve(client.responses.retrieve(private_.id)))).status).toBe(404);

  // All that a person keeps by any key is bounded: the oldest go.
  const full = await apiUser(server);
  const own = clientOf(full.key);
  const kept = await own.responses.create({ model, input: '记住一' });
  await onDatabase(server, 'UPDATE api_responses SET bytes = 64 * 1024 * 1024 WHERE id = $1', [
    kept.id,
  ]);
  const { full_key: beside } = await full.person.call('genKey', {});
  await clientOf(beside).responses.create({ model, input: '记住二' });
  expect((await failing(Promise.resolve(own.responses.retrieve(kept.id)))).status).toBe(404);
  expect((await client.responses.retrieve(first.id)).id).toBe(first.id);

  // Images cost few tokens: what went before may be far more than is read at once.
  await onDatabase(server, 'UPDATE api_responses SET bytes = 25000000 WHERE id = $1', [first.id]);
  const goesOn = { model, input: '？', previous_response_id: second!.id };
  expect((await failing(client.responses.create(goesOn))).code).toBe('context_length_exceeded');

  await client.responses.delete(first.id);
  expect(
    (
      await failing(
        client.responses.create({ model, input: '？', previous_response_id: second!.id }),
      )
    ).code,
  ).toBe('previous_response_not_found');
});

test('what was said before is read for a model that there is, and so much of it in a minute', async () => {
  const much = await apiUser(server);
  const own = clientOf(much.key);
  const unknown = { model: 'none', input: '？', previous_response_id: 'resp_none' };
  expect((await failing(own.responses.create(unknown))).code).toBe('model_not_found');

  // What no model is told, and nobody counts, is not kept either.
  const loose = { id: 'rs_1', summary: [], encrypted_content: '\\"'.repeat(100_000) };
  const said = { type: 'output_text', text: '你好', annotations: [{ url: 'x'.repeat(100_000) }] };
  const input = [
    { type: 'reasoning', ...loose },
    { type: 'message', role: 'assistant', content: [said] },
    { role: 'user', content: '继续' },
  ] as unknown as OpenAI.Responses.ResponseInput;
  const { id } = await own.responses.create({ model, input });
  const rows = await onDatabase<{ bytes: number }>(
    server,
    'SELECT bytes FROM api_responses WHERE id = $1',
    [id],
  );
  expect(rows[0]!.bytes).toBeLessThan(5_000);
  const page = (query: OpenAI.Responses.InputItemListParams) =>
    own.responses.inputItems.list(id, query);
  const texts = { type: 'output_text', text: '你好', annotations: [] };
  const items = [
    { id: 'rs_1', type: 'reasoning', summary: [] },
    { id: 'item_1', type: 'message', role: 'assistant', content: [texts] },
    { id: 'item_2', type: 'message', role: 'user', content: '继续' },
  ];
  expect((await page({ order: 'asc' })).data).toEqual(items);
  const newest = await page({ limit: 1 });
  expect([newest.data, newest.has_more]).toEqual([items.slice(2), true]);
  expect((await page({ after: 'item_2' })).data).toEqual(items.slice(0, 2).reverse());
  expect((await page({ order: 'asc', after: 'item_1' })).data).toEqual(items.slice(2));

  // Images cost few tokens: a minute reads ten of the largest, whatever comes of the requests.
  const largest = 20 * 1024 * 1024;
  await onDatabase(server, 'UPDATE api_responses SET bytes = $2 WHERE id = $1', [id, largest]);
  const goesOn = { model, input: '？', previous_response_id: id, store: false };
  let refused: APIError | null = null;
  for (let at = 0; at < 11 && !refused; at += 1)
    refused = await own.responses.create(goesOn).then(
      () => null,
      (error: unknown) => error as APIError,
    );
  expect([refused?.status, refused?.message]).toEqual([429, expect.stringContaining('一分钟')]);
  expect(Number(refused?.headers?.get('retry-after'))).toBeGreaterThan(0);
  await own.responses.create({ model, input: '新的' });
});

test('answers that are kept for repeats are bounded: the oldest go, and nothing is done twice', async () => {
  const much = await apiUser(server);
  const input = Array.from({ length: 256 }, (_, at) => `月亮 ${at}`);
  const ask = (key: string, texts: readonly string[] = input) =>
    fetch(`${server.baseURL}/v1/embeddings`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${much.key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ model: 'builtin-embedding', input: texts }),
    });
  expect((await ask('old', ['月'])).status).toBe(200);
  expect((await ask('old', ['月'])).headers.get('x-idempotent-replay')).toBe('true');
  const kept = async () => {
    const [row] = await onDatabase<{ answers: number }>(
      server,
      'SELECT count(answer)::int AS answers FROM idempotency WHERE user_id = $1',
      [much.userId],
    );
    return row!.answers;
  };
  await onDatabase(
    server,
    'UPDATE idempotency SET bytes = 200 * 1024 * 1024 WHERE user_id = $1 AND bytes > 0',
    [much.userId],
  );
  // It is looked at after every few megabytes.
  let last = '';
  for (let at = 1; at < 30 && (await kept()) === at; at += 1) {
    last = `new ${at}`;
    expect((await ask(last)).status).toBe(200);
  }
  const again = await ask('old', ['月']);
  expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('没有保存')]);
  expect((await ask(last)).headers.get('x-idempotent-replay')).toBe('true');
});

test('variations of an image, and a recording in English', async () => {
  const data = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#48c' } })
    .png()
    .toBuffer();
  const image = await toFile(data, 'a.png', { type: 'image/png' });
  const made = await client.images.createVariation({ image, n: 2, response_format: 'b64_json' });
  expect(made.data).toHaveLength(2);
  for (const { b64_json: inline } of made.data ?? []) {
    const { width } = await sharp(Buffer.from(inline ?? '', 'base64')).metadata();
    expect(width).toBeGreaterThan(64);
  }
  const speech = await client.audio.speech.create({
    model: 'builtin-voice',
    voice: 'alloy',
    input: 'The moon.',
  });
  const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'a.mp3');
  const translated = await client.audio.translations.create({ model: 'whisper-1', file });
  expect(translated.text).toBe('答：月亮很亮');
  expect(JSON.stringify(sent.at(-1)?.messages[0])).toContain('英文');
});

test('who has much read for nothing waits for it alone', async () => {
  const input = 'The moon is bright. '.repeat(20);
  const speak = (from: OpenAI) =>
    from.audio.speech.create({ model: 'builtin-voice', voice: 'alloy', input });
  const other = clientOf((await apiUser(server)).key);
  let left = 12;
  const many = Array.from({ length: left }, () =>
    speak(client)
      .then(async (answer) => (await answer.arrayBuffer()) && 200)
      .catch((error: APIError) => error.status)
      .finally(() => (left -= 1)),
  );
  await expect.poll(() => left).toBeLessThan(12);
  await (await speak(other)).arrayBuffer();
  expect(left, 'another one waits for all of it').toBeGreaterThan(0);
  const told = await Promise.all(many);
  expect(told.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect(told.filter((status) => status === 200)).toHaveLength(9);
}, 60_000);

test('every call stands in the log of its owner, its words only if they want them', async () => {
  const own = await apiUser(server);
  const asking = clientOf(own.key);
  await asking.chat.completions.create({ model, messages });
  await failing(asking.chat.completions.create({ model: 'none', messages }));
  await own.person.call('updateKey', { id: own.keyId, log_bodies: true });
  for await (const _ of await asking.chat.completions.create({
    model,
    messages: [{ role: 'user', content: '要记下来' }],
    stream: true,
  }));
  const listed = async () => (await own.person.call('apiCallLog', {})).list;
  await expect.poll(async () => (await listed()).length, { timeout: 10_000 }).toBe(3);
  const [streamed, failed, first] = await listed();
  expect(first).toMatchObject({
    path: '/v1/chat/completions',
    model,
    status: 200,
    failure: '',
    prompt_tokens: 100,
    cached_tokens: 80,
    deduct_tokens: price,
    has_bodies: false,
  });
  expect(failed).toMatchObject({ status: 404, deduct_tokens: 0, model: 'none' });
  expect(failed!.failure).toContain('没有模型');
  expect(streamed).toMatchObject({ has_bodies: true, deduct_tokens: price });
  expect(await own.person.call('apiCallBodies', { id: first!.id })).toEqual({
    request: null,
    answer: null,
  });
  const { request, answer } = await own.person.call('apiCallBodies', { id: streamed!.id });
  expect(request).toContain('要记下来');
  expect(answer).toContain('data: [DONE]');
  const other = await apiUser(server);
  expect((await other.person.raw('apiCallBodies', { id: streamed!.id })).code).toBe(404);
  expect((await other.person.call('apiCallLog', { before: streamed!.id })).list).toEqual([]);
  await own.person.call('clearCallLog', {});
  expect(await listed()).toEqual([]);
});

/** A tool was called and has answered. */
const afterTool = (call: object, content: unknown) => [
  { role: 'user', content: '你好' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' }, ...call },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content },
];
const searchTool = {
  type: 'function',
  function: { name: 'search', description: '', parameters: { type: 'object', properties: {} } },
};

/**
 * In the shapes of their public code: OpenAIApiClient.ts of CherryHQ/cherry-studio,
 * openaiCompatibleFactory of lobehub/lobe-chat, routers/openai.py and utils/middleware.py of
 * open-webui/open-webui.
 */
const shapes: Readonly<
  Record<string, { path: string; headers?: Record<string, string>; body: object }>
> = {
  'Cherry Studio, a chat': {
    path: '/v1/chat/completions',
    headers: { 'http-referer': 'https://cherry-ai.com', 'x-title': 'Cherry Studio' },
    body: {
      model,
      messages: [
        { role: 'system', content: '简短' },
        { role: 'user', content: [{ type: 'text', text: '你好' }] },
      ],
      temperature: 1,
      top_p: 1,
      max_tokens: 1024,
      service_tier: 'auto',
      reasoning_effort: 'low',
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  'Cherry Studio, after a tool': {
    path: '/v1/chat/completions',
    body: {
      model,
      messages: afterTool({}, [{ type: 'text', text: '无' }]),
      temperature: 1,
      tools: [searchTool],
      verbosity: 'medium',
      enable_thinking: true,
      thinking_budget: 1024,
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  'Cherry Studio, whether it works': {
    path: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, stream: true },
  },
  'Open WebUI, a chat': {
    path: '/v1/chat/completions',
    headers: { 'x-openwebui-user-name': '%E5%B0%8F%E6%98%8E', 'x-openwebui-chat-id': 'c' },
    body: {
      stream: true,
      model,
      messages: [{ role: 'user', content: '你好' }],
      stream_options: { include_usage: true },
      user: 'u1',
      logit_bias: {},
      tools: [searchTool],
    },
  },
  'Open WebUI, after a tool, with all that is set': {
    path: '/v1/chat/completions',
    body: {
      stream: true,
      model,
      messages: afterTool({ index: 0 }, '无'),
      tools: [searchTool],
      temperature: 0.7,
      top_p: 0.9,
      max_tokens: 200,
      frequency_penalty: 0,
      presence_penalty: 0,
      reasoning_effort: 'medium',
      seed: 7,
      stop: ['完'],
      logit_bias: {},
      response_format: { type: 'text' },
    },
  },
  'Open WebUI, a title': {
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: '### Task: a title' }],
      stream: false,
      max_completion_tokens: 1000,
    },
  },
  'LobeHub, a chat': {
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: '你好' }],
      frequency_penalty: 0,
      presence_penalty: 0,
      temperature: 1,
      top_p: 1,
      stream: true,
      stream_options: { include_usage: true },
      user: 'u1',
    },
  },
  'LobeHub, an object': {
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: '你好' }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
      user: 'u1',
    },
  },
  'LobeHub, an object by a tool': {
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: '你好' }],
      tool_choice: { type: 'function', function: { name: 'search' } },
      tools: [searchTool],
      user: 'u1',
    },
  },
  'LobeHub, by responses': {
    path: '/v1/responses',
    body: {
      model,
      temperature: 1,
      top_p: 1,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      input: [
        { role: 'developer', content: '简短' },
        { role: 'user', content: [{ type: 'input_text', text: '你好' }] },
        { type: 'function_call', call_id: 'call_1', name: 'search', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: '无' },
      ],
      store: false,
      stream: true,
      tools: [
        { type: 'function', name: 'search', description: '', parameters: { type: 'object' } },
      ],
    },
  },
};

test('what other programs send is answered', async () => {
  const asked = Object.entries(shapes).map(async ([name, { path, headers = {}, body }]) => {
    const answer = await fetch(server.baseURL + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${user.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    expect(answer.status, `${name}: ${text}`).toBe(200);
    expect(text, name).toContain('答');
    expect(text, name).not.toContain('"error":{');
  });
  await Promise.all(asked);
});

/** routers/openai.py, audio.py, images.py and retrieval/utils.py of open-webui; LobeHub's factory as above. */
test('what other programs ask beside chats is answered', async () => {
  const headers = {
    authorization: `Bearer ${user.key}`,
    'x-openwebui-user-name': '%E5%B0%8F%E6%98%8E',
    'x-openwebui-user-role': 'user',
  };
  const ask = async (path: string, body?: object | FormData) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(server.baseURL + path, {
      method: body ? 'POST' : 'GET',
      headers: isForm || !body ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    });
    if (answer.status !== 200) expect.fail(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const listed = (await (await ask('/v1/models')).json()) as { data: { id: string }[] };
  expect(listed.data.map(({ id }) => id)).toContain(model);
  const texts = { model: 'builtin-embedding', input: ['月亮', '桥'] };
  for (const more of [{}, { encoding_format: 'float', user: 'u1' }]) {
    const { data } = (await (await ask('/v1/embeddings', { ...texts, ...more })).json()) as {
      data: { index: number; embedding: number[] }[];
    };
    expect(data.map(({ index, embedding }) => [index, Array.isArray(embedding)])).toEqual([
      [0, true],
      [1, true],
    ]);
  }
  const drawn = await ask('/v1/images/generations?api-version=2025-04-01-preview', {
    model: 'builtin-canvas',
    prompt: '山',
    n: 1,
    size: '512x512',
    response_format: 'b64_json',
  });
  expect(drawn.headers.get('x-ignored-fields')).toBe('api-version');
  expect(await drawn.text()).toContain('"b64_json"');
  const said = await ask('/v1/audio/speech', {
    input: '你好',
    voice: 'alloy',
    model: 'builtin-voice',
  });
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('file', new Blob([await said.arrayBuffer()]), 'a.mp3');
  expect(await (await ask('/v1/audio/transcriptions', form)).json()).toEqual({
    text: '月亮很亮',
  });
});

test('what failed and cost nothing fills no disk: a day of one person has its room', async () => {
  const own = await apiUser(server, { key: { log_bodies: true } });
  const count = 400;
  const content = '字'.repeat(21_000);
  for (let at = 0; at < count; at += 20)
    await Promise.all(
      Array.from({ length: 20 }, () =>
        failing(
          clientOf(own.key).chat.completions.create({
            model: 'none',
            messages: [{ role: 'user', content }],
          }),
        ),
      ),
    );
  const kept = async () =>
    (
      await onDatabase<{ all: number; megabytes: number }>(
        server,
        `SELECT count(*)::int AS all, sum(octet_length(request))::float8 / 1048576 AS megabytes
         FROM api_calls WHERE user_id = $1`,
        [own.userId],
      )
    )[0]!;
  await expect.poll(async () => (await kept()).all, { timeout: 10_000 }).toBe(count);
  const { megabytes } = await kept();
  expect(megabytes).toBeGreaterThan(15);
  expect(megabytes).toBeLessThanOrEqual(20);
});
