import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFields } from '#contract/open-fields.ts';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import { ADMIN_PASSWORD, startServer, type TestServer } from '../support/server.ts';
import { type MockOpenAi, startMockOpenAi } from '../support/mock-openai.ts';
import { TestClient } from '../support/client.ts';
import { onePixel } from '../support/world.ts';

/** What a program may say, what of it leaves for a service, and what it pays. */

let mock: MockOpenAi;
let server: TestServer;
let user: ApiUser;
const model = 'mock-chat';
const tokens = 10_000_000;
const soon = { timeout: 5000, interval: 20 };

beforeAll(async () => {
  mock = await startMockOpenAi();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: 'mock-chat,mock-mini,mock-vision,tts-1,whisper-1,dall-e-3',
      EMBEDDING_MODEL: 'mock-embedding',
      SIGNUP_TOKENS: String(tokens),
      API_REQUESTS: '100000',
      API_TOKENS: '100000000',
      ASSISTANT_RATE: '0',
    },
  });
  user = await apiUser(server);
});
afterAll(async () => {
  await server.stop();
  await mock.close();
});

const say = (content: unknown) => [{ role: 'user', content }];
const balance = async (of = user) => (await of.person.call('userInfo', {})).chatgpt_balance;

interface Refused {
  error?: { message: string; param: string | null; type: string; code: string | null };
}

const post = (path: string, body: object, more: RequestInit = {}) =>
  fetch(`${server.baseURL}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...more,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${user.key}`,
      ...(more.headers as Record<string, string> | undefined),
    },
  });
const chat = (more: object, options: RequestInit = {}) =>
  post('/v1/chat/completions', { model, messages: say('好'), ...more }, options);

/** A good request of each call that has a list. */
const bases: Readonly<Record<string, Record<string, unknown>>> = {
  '/v1/chat/completions': { model, messages: say('好') },
  '/v1/chat': { model, messages: say('好') },
  '/v1/responses': { model, input: '好' },
  '/v1/messages': { model, messages: say('好'), max_tokens: 100 },
  '/v1/messages/count_tokens': { model, messages: say('好') },
  '/v1/completions': { model, prompt: '好' },
  '/v1/moderations': { input: '好' },
  '/v1/rerank': { model: 'mock-embedding', query: '好', documents: ['好'] },
  '/v1/embeddings': { model: 'mock-embedding', input: '好' },
  '/v1/images/generations': { model: 'dall-e-3', prompt: '山' },
  '/v1/images/edits': { model: 'dall-e-3', prompt: '山' },
  '/v1/images/variations': { model: 'dall-e-3' },
  '/v1/audio/translations': { model: 'whisper-1' },
  '/v1/audio/speech': { model: 'tts-1', input: '你好' },
  '/v1/audio/transcriptions': { model: 'whisper-1' },
};
const files: Readonly<Record<string, string>> = {
  '/v1/images/edits': 'image',
  '/v1/images/variations': 'image',
  '/v1/audio/translations': 'file',
  '/v1/audio/transcriptions': 'file',
};

const send = (path: string, body: Record<string, unknown>): Promise<Response> => {
  const file = files[path];
  if (file === undefined) return post(path, body);
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  form.set(file, new Blob([new Uint8Array(onePixel)]), 'a.png');
  const headers = { authorization: `Bearer ${user.key}` };
  return fetch(`${server.baseURL}${path}`, { method: 'POST', headers, body: form });
};

describe('the fields of a request', () => {
  test.each(Object.entries(openFields))(
    '%s: what is refused or not known is named, and nothing leaves',
    async (path, fields) => {
      const { calls } = mock;
      const refused = Object.keys(fields).filter((name) => fields[name]?.service === 'refused');
      for (const name of [...refused, 'not_known', 'extra_body']) {
        const answer = await send(path, { ...bases[path], [name]: { ask: 'for more' } });
        const told = (await answer.json()) as Refused & { message?: string };
        if (path === '/v1/chat') {
          expect([name, answer.status]).toEqual([name, 422]);
          expect(told.message).toContain(name);
          continue;
        }
        const param = path.startsWith('/v1/messages') ? undefined : name;
        expect([name, answer.status, told.error?.param]).toEqual([name, 400, param]);
        expect(told.error?.message).toContain(name);
        expect(told.error?.message).toMatch(/\p{Script=Han}/u);
      }
      expect(mock.calls).toBe(calls);
    },
  );

  test('of a chat reach the service as the list says, or change nothing and are named', async () => {
    const fields: Record<string, unknown> = {
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      seed: 7,
      user: 'someone',
      safety_identifier: 'someone',
      prompt_cache_key: 'a',
      n: 2,
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
      tool_choice: 'auto',
      functions: [{ name: 'weather' }],
      function_call: 'auto',
      response_format: { type: 'json_object' },
      stop: ['完'],
      frequency_penalty: 0.1,
      presence_penalty: 0.1,
      repetition_penalty: 1.1,
      top_k: 20,
      min_p: 0.1,
      top_a: 0.1,
      logit_bias: { 1: 2 },
      logprobs: true,
      top_logprobs: 2,
      verbosity: 'low',
      reasoning_effort: 'low',
      reasoning: { effort: 'low' },
      include_reasoning: true,
      enable_thinking: false,
      thinking_budget: 100,
      thinking: { type: 'disabled' },
      chat_template_kwargs: { enable_thinking: false },
    };
    const list = openFields['/v1/chat/completions'] ?? {};
    const passed = Object.keys(list).filter((name) => list[name]?.service === 'passed');
    expect([...Object.keys(fields), 'messages'].sort()).toEqual(passed.sort());
    const answer = await chat({ ...fields, metadata: { a: '1' }, store: false, modalities: null });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ignored-fields')).toBe('metadata');
    const { messages: _, model: name, stream, max_tokens: length, ...sent } = mock.lastRequest!;
    expect(sent).toEqual(fields);
    expect([name, stream]).toEqual([model, false]);
    expect(length).toBeGreaterThan(100);
    // What is built in has no such answer, and says so by name.
    const builtIn = await chat({ model: 'builtin-assistant', logprobs: true });
    expect([builtIn.status, ((await builtIn.json()) as Refused).error?.param]).toEqual([
      400,
      'logprobs',
    ]);
    expect((await chat({ model: 'builtin-assistant', temperature: 1, n: 1 })).status).toBe(200);
  });

  test('of messages, tools and parts that are not known go nowhere', async () => {
    const { calls } = mock;
    const tool = { name: 'a' };
    for (const [more, field] of [
      [{ messages: [{ role: 'user', content: { text: 'x' } }] }, 'messages.0.content'],
      [{ messages: [{ role: 'user', content: '好', extra: 'x' }] }, 'messages.0.extra'],
      [{ messages: [{ role: 'user', content: null }] }, 'messages.0.content'],
      [{ messages: [{ role: 'root', content: '好' }] }, 'messages.0.role'],
      [{ messages: say([{ text: 'x' }]) }, 'messages.0.content.0.type'],
      [{ messages: say([{ type: 'text', text: 'x', more: 'x' }]) }, 'messages.0.content.0.more'],
      [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
      [{ tools: [{ type: 'function', function: tool, more: 1 }] }, 'tools.0.more'],
      [{ tools: [{ type: 'mcp', server_url: 'http://a.example' }] }, 'tools.0.type'],
      [
        { tools: [{ type: 'function', function: { ...tool, parameters: { $ref: 'http://a' } } }] },
        'tools.0.function.parameters',
      ],
      [{ response_format: { type: 'grammar' } }, 'response_format.type'],
      [{ chat_template_kwargs: { more: '长'.repeat(100) } }, 'chat_template_kwargs.more'],
      [{ n: 100 }, 'n'],
    ] as const) {
      const answer = await chat(more);
      const { error } = (await answer.json()) as Refused;
      expect([answer.status, error?.param]).toEqual([400, field]);
    }
    expect(mock.calls).toBe(calls);
    // An answer goes back as it came.
    const again = await chat({
      messages: [
        { role: 'user', content: '好' },
        { role: 'assistant', content: '嗯', refusal: null, annotations: [], audio: null, odd: {} },
        { role: 'user', content: '好' },
      ],
    });
    expect(again.status).toBe(200);
    expect(mock.lastRequest?.messages[1]).toEqual({ role: 'assistant', content: '嗯' });
  });

  test('in an address that a call does not read are refused by name; those beside a body are named', async () => {
    const headers = { authorization: `Bearer ${user.key}` };
    const none = '00000000-0000-4000-8000-000000000000';
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['GET', `/v1/models/${model}`],
      ['GET', '/v1/files/none'],
      ['GET', '/v1/files'],
      ['GET', '/v1/batches/none'],
      ['GET', '/v1/responses/none'],
      ['DELETE', '/v1/files/none'],
      ['DELETE', '/v1/responses/none'],
      ['GET', '/v1/balance'],
      ['GET', `/v1/progress?request_id=${none}`],
    ] as const) {
      const asked = `${path}${path.includes('?') ? '&' : '?'}odd=1`;
      const answer = await fetch(`${server.baseURL}${asked}`, { method, headers });
      const told = (await answer.json()) as Refused & { message?: string };
      expect([asked, answer.status]).toEqual([asked, told.error ? 400 : 422]);
      if (told.error) expect(told.error.param).toBe('odd');
      expect(told.error?.message ?? told.message).toContain('odd');
    }
    const beside = await post('/v1/chat/completions?beta=true&%E5%A5%87=1', {
      model,
      messages: say('好'),
      metadata: { a: '1' },
    });
    expect([beside.status, beside.headers.get('x-ignored-fields')]).toEqual([
      200,
      'beta, %E5%A5%87, metadata',
    ]);
    const drawn = { model: 'dall-e-3', prompt: '山', parameters: { seeed: 1 } };
    const misspelt = await post('/v1/images/generations', drawn);
    const { error } = (await misspelt.json()) as Refused;
    expect([misspelt.status, error?.param]).toEqual([400, 'parameters.seeed']);
    expect((await post('/v1/image', drawn)).status).toBe(422);
    const cancelled = await post('/v1/batches/none/cancel', { odd: 1 });
    expect(((await cancelled.json()) as Refused).error?.param).toBe('odd');
  });

  test('addresses in whatever part are fetched here or refused', async () => {
    const { calls } = mock;
    const there = 'http://127.0.0.1:9/secret.png';
    const data = `data:image/png;base64,${onePixel.toString('base64')}`;
    const parts: object[] = [
      { type: 'image_url', image_url: there },
      { type: 'image_url', image_url: { url: there } },
      { type: 'image_url', image_url: { url: 'HTTP://169.254.169.254/latest/meta-data' } },
      { type: 'image_url', image_url: { url: 'file:///etc/passwd' } },
      { type: 'image_url', image_url: { url: '//a.example/x.png' } },
      { type: 'image_url', image_url: { url: 'ftp://a.example/x.png' } },
      { type: 'image_url', image_url: { url: 'data:text/html;base64,PGI+' } },
      { type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,PGI+' } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${btoa('no image at all')}` } },
      { type: 'image_url', image_url: { url: data, fallback: there } },
      { type: 'image_url', image_url: { urls: [there] } },
      { type: 'image_url', url: there },
      { type: 'image_url', image_url: [there] },
      { image_url: { url: there } },
      { url: there },
      { type: 'image', source: { type: 'url', url: there } },
      { type: 'image', image: there },
      { type: 'input_image', image_url: there },
      { type: 'input_file', file_url: there },
      { type: 'file', file: { file_data: there } },
      { type: 'file_url', file_url: { url: there } },
      { type: 'video_url', video_url: { url: there } },
      { type: 'video', video: [there] },
      { type: 'audio_url', audio_url: { url: there } },
      { type: 'input_audio', input_audio: { data: there, format: 'wav' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav', url: there } },
      { type: 'text', text: '看', image_url: { url: there } },
    ];
    for (const part of parts)
      for (const role of ['user', 'tool']) {
        const beside = role === 'tool' ? { tool_call_id: 'call_1' } : {};
        const answer = await chat({ messages: [{ role, content: [part], ...beside }] });
        expect([part, answer.status]).toEqual([part, 400]);
      }
    const inputs: object[] = [
      { type: 'input_image', image_url: there },
      { type: 'input_image', image_url: { url: there } },
      { type: 'input_image', image_url: 'file:///etc/passwd' },
      { type: 'input_image', file_id: 'file-1' },
      { type: 'input_file', file_url: there },
      { type: 'image_url', image_url: { url: there } },
      { type: 'computer_screenshot', image_url: there },
    ];
    for (const part of inputs) {
      const content = [part];
      for (const input of [
        [{ role: 'user', content }],
        [{ type: 'function_call_output', call_id: 'a', output: content }],
        [{ type: 'computer_call_output', call_id: 'a', output: part }],
      ]) {
        const answer = await post('/v1/responses', { model, input });
        expect([part, answer.status]).toEqual([part, 400]);
      }
    }
    for (const more of [{ image: there }, { image_url: there }, { images: [there] }])
      expect((await send('/v1/images/generations', { prompt: '山', ...more })).status).toBe(400);
    expect(mock.calls).toBe(calls);
    // An image as plain text of data is one all the same.
    await chat({
      model: 'mock-vision',
      messages: say([{ type: 'image_url', image_url: data }]),
    });
    expect(mock.lastPictures[0]?.data.equals(onePixel)).toBe(true);
  });
});

describe('what is held and paid', () => {
  test('is bounded by the smaller length, and by what may be thought', async () => {
    await chat({ max_tokens: 1_000_000, max_completion_tokens: 5 });
    expect(mock.lastRequest?.max_tokens).toBe(5);
    expect(mock.lastRequest).not.toHaveProperty('max_completion_tokens');
    await chat({ max_tokens: 50, thinking_budget: 30_000, reasoning: { max_tokens: 20_000 } });
    expect(mock.lastRequest).toMatchObject({
      max_tokens: 50,
      thinking_budget: 50,
      reasoning: { max_tokens: 50 },
    });
    const poor = await apiUser(server);
    await onDatabase(server, 'UPDATE wallets SET balance = 60 WHERE user_id = $1', [poor.userId]);
    const { calls } = mock;
    const headers = { authorization: `Bearer ${poor.key}` };
    for (const more of [
      { max_tokens: 50, n: 8 },
      { max_tokens: 50, thinking: { type: 'enabled', budget_tokens: 50 } },
      { max_tokens: 1_000_000, max_completion_tokens: 200 },
    ])
      expect([more, (await chat(more, { headers })).status]).toEqual([more, 402]);
    expect(mock.calls).toBe(calls);
  });

  test('counts every word that goes out', async () => {
    const { calls } = mock;
    const long = 'word '.repeat(20_000);
    const call = { id: 'a', type: 'function', function: { name: 'a', arguments: long } };
    const bodies: object[] = [
      { messages: [{ role: 'assistant', content: '', reasoning_content: long }, ...say('好')] },
      { messages: [{ role: 'assistant', content: '', reasoning: long }, ...say('好')] },
      { messages: [{ role: 'assistant', content: null, tool_calls: [call] }, ...say('好')] },
      { messages: [{ role: 'assistant', content: [{ type: 'refusal', refusal: long }] }] },
      {
        messages: [
          ...say('好'),
          ...Array.from({ length: 40 }, () => ({
            role: 'tool',
            tool_call_id: 'a'.repeat(500),
            content: '',
          })),
        ],
      },
      // No vocabulary has these letters: each takes a token for each of its bytes.
      { messages: say('ᐁᐂᐃ'.repeat(1000)) },
      { tools: [{ type: 'function', function: { name: 'a', description: long } }] },
      { functions: [{ name: 'a', parameters: { description: long } }] },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { title: long } },
        },
      },
    ];
    for (const more of bodies) {
      const answer = await chat(more);
      const { error } = (await answer.json()) as Refused;
      expect([Object.keys(more), answer.status, error?.code]).toEqual([
        Object.keys(more),
        400,
        'context_length_exceeded',
      ]);
    }
    expect(mock.calls).toBe(calls);
  });

  test('does not believe a service that counts almost nothing', async () => {
    // It says 11 and 7, and writes the question back.
    const before = await balance();
    const answer = (await (await chat({ messages: say('月亮和桥'.repeat(400)) })).json()) as {
      usage: { total_tokens: number };
    };
    const taken = before - (await balance());
    expect(taken).toBeGreaterThan(1500);
    expect(answer.usage.total_tokens).toBe(taken);
  });

  test('a whole answer is paid though its asker hung up, and is there for who asks again', async () => {
    const before = await balance();
    const stop = new AbortController();
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const { calls } = mock;
    mock.enqueue('late');
    const asked = chat({}, { signal: stop.signal, headers }).catch(() => null);
    await expect.poll(() => mock.calls, soon).toBe(calls + 1);
    stop.abort();
    await asked;
    await expect.poll(async () => before - (await balance()), soon).toBe(3011);
    const again = await chat({}, { headers });
    expect(again.headers.get('x-idempotent-replay')).toBe('true');
    expect(before - (await balance())).toBe(3011);
  });

  test('a stream is paid with what was thought unseen, whenever its asker hung up', async () => {
    for (const words of ['role', 'content":"您']) {
      const before = await balance();
      const stop = new AbortController();
      mock.enqueue('unseen');
      const answer = await chat({ stream: true }, { signal: stop.signal });
      let text = '';
      const decoder = new TextDecoder();
      await (async () => {
        for await (const piece of answer.body ?? []) {
          text += decoder.decode(piece);
          if (text.includes(words)) stop.abort();
        }
      })().catch(() => null);
      expect(text).not.toContain('[DONE]');
      await expect.poll(async () => before - (await balance()), soon).toBe(3011);
    }
  });

  test('what a service writes where no text is documented is paid where it tells no count', async () => {
    for (const leaves of [true, false]) {
      const asker = await apiUser(server);
      const headers = { authorization: `Bearer ${asker.key}` };
      const before = await balance(asker);
      const stop = new AbortController();
      mock.enqueue('beside');
      const answer = await chat({ stream: true }, { signal: stop.signal, headers });
      await (async () => {
        for await (const _piece of answer.body ?? []) if (leaves) stop.abort();
      })().catch(() => null);
      await expect.poll(() => mock.active, soon).toBe(0);
      await expect.poll(async () => before - (await balance(asker)), soon).toBeGreaterThan(1000);
    }
  });

  test('a stream may be no longer than can be paid for, and one that thinks is set aside whole', async () => {
    const poor = await apiUser(server);
    await onDatabase(server, 'UPDATE wallets SET balance = 3000 WHERE user_id = $1', [poor.userId]);
    const headers = { authorization: `Bearer ${poor.key}` };
    const stream = { stream: true, model: 'mock-mini' };
    await (await chat(stream, { headers })).text();
    expect(mock.lastRequest?.max_tokens).toBeGreaterThan(2000);
    expect(mock.lastRequest?.max_tokens).toBeLessThan(3000);
    mock.enqueue('unseen');
    const { calls } = mock;
    const thinking = { ...stream, reasoning_effort: 'low' };
    const both = await Promise.all([1, 2].map(() => chat(thinking, { headers })));
    const ends = both.map(({ status }) => status);
    expect(ends.sort((a, b) => a - b)).toEqual([200, 402]);
    await Promise.all(both.map((each) => each.text()));
    expect(mock.calls).toBe(calls + 1);
  });

  test('a stream that nobody read is paid as far as it came', async () => {
    const before = await balance();
    const body = JSON.stringify({
      model,
      stream: true,
      messages: say('[[bench tokens=3000 rate=0 id=unread]]'),
    });
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${user.key}`,
    };
    const { calls } = mock;
    const asked = request(`${server.baseURL}/v1/chat/completions`, { method: 'POST', headers });
    asked.on('error', () => {});
    asked.end(body);
    // The answer is never read.
    asked.on('response', (response) => response.pause());
    await expect.poll(() => mock.calls, soon).toBe(calls + 1);
    await expect.poll(() => mock.active, soon).toBe(0);
    asked.destroy();
    await expect.poll(async () => before - (await balance()), soon).toBeGreaterThan(3000);
  });

  test('what one request provokes changes no other', async () => {
    const stream = (more: object = {}) => chat({ stream: true, ...more }).then((a) => a.text());
    mock.enqueue('no-stream-options', 'no-stream-options');
    await stream();
    expect(mock.lastRequest).not.toHaveProperty('stream_options');
    mock.enqueue('no-max-tokens', 'no-max-tokens');
    await stream({ max_tokens: 20 });
    expect(mock.lastRequest?.['max_completion_tokens']).toBe(20);
    await stream({ max_tokens: 20 });
    expect(mock.lastRequest).toMatchObject({
      max_tokens: 20,
      stream_options: { include_usage: true },
    });
    expect(mock.lastRequest).not.toHaveProperty('max_completion_tokens');
  });
});

test('tokens that a manager gave open the API, those of the registration do not', async () => {
  const own = await apiUser(server, { paid: false });
  const headers = { authorization: `Bearer ${own.key}` };
  expect((await chat({}, { headers })).status).toBe(402);
  const admin = new TestClient(server.baseURL);
  await admin.login('admin', ADMIN_PASSWORD);
  await admin.call('updateTokens', { user_id: own.userId, tokens: 1000, add: 1 });
  expect((await chat({}, { headers })).status).toBe(200);
  expect((await own.person.call('apiKeys', {})).userinfo.may_use).toBe(true);
});

test('/v1/chat as a stream: what a service fails ends the stream, what was asked wrongly is refused', async () => {
  for (const [scenario, code] of [
    ['500', 502],
    ['429', 429],
    ['html', 502],
    ['cut-before', 502],
  ] as const) {
    mock.enqueue(scenario);
    const answer = await post('/v1/chat', { model, messages: say('好'), stream: true });
    expect(answer.status).toBeLessThan(500);
    const said = await answer.text();
    if (scenario === '429') {
      expect([answer.status, JSON.parse(said)]).toMatchObject([429, { result: false, code }]);
      continue;
    }
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(JSON.parse(said.replace(/^data: /, ''))).toEqual([
      code,
      expect.stringMatching(/\p{Script=Han}/u),
    ]);
  }
  const refused = await post('/v1/chat', { model: 'none', messages: say('好'), stream: true });
  expect([refused.status, await refused.json()]).toMatchObject([404, { result: false }]);
});
