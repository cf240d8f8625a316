import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { APIError, toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { estimateTokens } from '#contract/price.ts';
import { countTokens } from '#server/engines/tokens.ts';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import {
  type MockOpenAi,
  mockJson,
  type Scenario,
  startMockOpenAi,
} from '../support/mock-openai.ts';
import { scanOf } from '../support/sample-files.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

let mock: MockOpenAi;
let spare: MockOpenAi;
let server: TestServer;
/** Starts another process on the same database. */
let beside: (more?: Record<string, string>) => Promise<TestServer>;
let user: ApiUser;
let client: OpenAI;

/** OpenAI's own client as anybody would make it. */
const clientOf = (key: string) =>
  new OpenAI({ apiKey: key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });

beforeAll(async () => {
  mock = await startMockOpenAi();
  spare = await startMockOpenAi();
  const service = {
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'mock-chat,mock-mini,mock-vision',
    SECRET_KEY: 'the same in all processes',
  };
  beside = (more) => startServer({ databaseUrl: server.databaseUrl, env: { ...service, ...more } });
  server = await startServer({
    env: {
      ...service,
      SIGNUP_TOKENS: '1000000',
      ASSISTANT_RATE: '0',
      CANVAS_SECONDS: '0',
    },
  });
  user = await apiUser(server);
  client = clientOf(user.key);
});
afterAll(async () => {
  await server.stop();
  await mock.close();
  await spare.close();
});

const model = 'mock-chat';
const say = (content: string) => [{ role: 'user' as const, content }];
const balance = async (of = user) => (await of.person.call('userInfo', {})).chatgpt_balance;

/** A channel that failed often is left out for a while: a good answer makes it well again. */
beforeEach(async () => {
  await client.chat.completions.create({ model, messages: say('好') });
});

const failing = async (work: Promise<unknown>): Promise<APIError> => {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
};

const spent = async (act: () => Promise<unknown>) => {
  const before = await balance();
  await act();
  return before - (await balance());
};

describe('chat by the client of OpenAI', () => {
  test('a whole answer, billed by what the service counts and kept nowhere', async () => {
    const [{ count: rows } = { count: '' }] = await onDatabase<{ count: string }>(
      server,
      'SELECT count(*) FROM history',
    );
    const taken = await spent(async () => {
      const answer = await client.chat.completions.create({
        model,
        messages: say('你好'),
        seed: 7,
      });
      expect(answer.choices[0]?.message.content).toBe(mock.textFor('你好'));
      expect(answer.model).toBe(model);
      expect(answer.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
    });
    expect(taken).toBe(18);
    expect(mock.lastRequest).toMatchObject({ seed: 7, stream: false });
    const after = await onDatabase<{ count: string }>(server, 'SELECT count(*) FROM history');
    expect(after[0]?.count).toBe(rows);
    const { list } = await user.person.call('transactionList', {});
    expect(list[0]).toMatchObject({
      model,
      human: 'API 调用',
      prompt_tokens: 11,
      deduct_tokens: 18,
    });
  });

  test('a stream, with its usage at the end when asked for', async () => {
    for (const include of [true, false]) {
      const stream = await client.chat.completions.create({
        model,
        messages: say('流'),
        stream: true,
        ...(include ? { stream_options: { include_usage: true } } : {}),
      });
      let text = '';
      let usage;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      expect(text).toBe(mock.textFor('流'));
      expect(usage?.total_tokens).toBe(include ? 18 : undefined);
    }
  });

  test('a stream arrives whole however the service writes it', async () => {
    const shapes: Scenario[] = ['no-done', 'split', 'crlf', 'comments', 'json', 'cut-usage'];
    for (const shape of shapes) {
      mock.enqueue(shape);
      let text = '';
      for await (const chunk of await client.chat.completions.create({
        model,
        messages: say('流'),
        stream: true,
      }))
        text += chunk.choices[0]?.delta.content ?? '';
      expect([shape, text]).toEqual([shape, mock.textFor('流')]);
    }
  });

  test('tools, whole and in pieces; what the request says reaches the service as it is', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ];
    const asked = {
      model,
      messages: say('[[mock tools]] 天气'),
      tools,
      tool_choice: 'auto' as const,
      logprobs: true,
      top_logprobs: 2,
      stop: ['完'],
      logit_bias: { 1: 2 },
    };
    const answer = await client.chat.completions.create(asked);
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { name: 'weather', arguments: '{"city":"北京"}' } });
    const { messages: _, ...fields } = asked;
    expect(mock.lastRequest).toMatchObject(fields);
    const runner = client.chat.completions.stream(asked);
    const whole = await runner.finalChatCompletion();
    expect(whole.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'weather', arguments: '{"city":"北京"}' },
    });
  });

  test('pictures, a JSON schema, and thinking', async () => {
    const url = `data:image/png;base64,${onePixel.toString('base64')}`;
    const shown = (address: string) => [
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: '看图' },
          { type: 'image_url' as const, image_url: { url: address, detail: 'low' as const } },
        ],
      },
    ];
    await client.chat.completions.create({ model: 'mock-vision', messages: shown(url) });
    expect(mock.lastPictures[0]?.data.equals(onePixel)).toBe(true);
    // A model that does not see is told what is written there, or nobody pays for a guess.
    const scan = `data:image/jpeg;base64,${(await scanOf('合计金额壹佰贰拾捌元')).toString('base64')}`;
    await client.chat.completions.create({ model, messages: shown(scan) });
    expect(mock.lastPictures).toEqual([]);
    const told = JSON.stringify(mock.lastRequest?.messages);
    expect(told).toContain('从图片里认出的文字');
    expect(told).toContain('合计金额壹佰贰拾捌元');
    const { calls } = mock;
    const blank = await failing(client.chat.completions.create({ model, messages: shown(url) }));
    expect([blank.status, mock.calls]).toEqual([400, calls]);
    expect(blank.message).toContain('看不了图片');
    const response_format = {
      type: 'json_schema' as const,
      json_schema: { name: 'weather', schema: { type: 'object' } },
    };
    const answer = await client.chat.completions.create({
      model,
      messages: say('天气'),
      response_format,
    });
    expect(answer.choices[0]?.message.content).toBe(mockJson);
    expect(mock.lastRequest?.response_format).toEqual(response_format);
    let thought = '';
    for await (const chunk of await client.chat.completions.create({
      model,
      messages: say('[[mock reasoning]] 想'),
      stream: true,
    }))
      thought +=
        (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)
          ?.reasoning_content ?? '';
    expect(thought).toBe('先想一想，再回答。');
  });

  test('responses, whole and in events, with calls of tools', async () => {
    const answer = await client.responses.create({ model, instructions: '简短', input: '你好' });
    expect(answer.output_text).toBe(mock.textFor('你好'));
    expect(mock.lastRequest?.messages[0]).toEqual({ role: 'system', content: '简短' });
    expect(answer.usage?.total_tokens).toBe(18);
    const types = new Set<string>();
    let text = '';
    for await (const event of await client.responses.create({ model, input: '流', stream: true })) {
      types.add(event.type);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed')
        expect(event.response.output_text ?? text).toBe(text);
    }
    expect(text).toBe(mock.textFor('流'));
    expect([...types]).toEqual(
      expect.arrayContaining([
        'response.created',
        'response.output_item.done',
        'response.completed',
      ]),
    );
    const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: false }];
    const called = await client.responses.create({ model, input: '[[mock tools]] 天气', tools });
    const [item] = called.output;
    expect(item).toMatchObject({ type: 'function_call', name: 'weather', call_id: 'call_1' });
    const stored = await failing(
      client.responses.create({ model, input: '再说', previous_response_id: 'resp_1' }),
    );
    expect(stored).toMatchObject({ status: 400, param: 'previous_response_id' });
  });

  test('the built-in assistant answers too, and says what it cannot', async () => {
    const builtIn = 'builtin-assistant';
    const answer = await client.chat.completions.create({ model: builtIn, messages: say('3*7') });
    expect(answer.choices[0]?.message.content).toContain('21');
    const refused = await failing(
      client.chat.completions.create({
        model: builtIn,
        messages: say('3*7'),
        response_format: { type: 'json_object' },
      }),
    );
    expect(refused).toMatchObject({ status: 400, param: 'response_format' });
  });

  test('models, and one of them', async () => {
    const ids = [];
    for await (const row of client.models.list()) ids.push(row.id);
    expect(ids).toEqual(expect.arrayContaining([model, 'mock-mini', 'builtin-assistant']));
    expect((await client.models.retrieve(model)).id).toBe(model);
    expect(await failing(client.models.retrieve('none/such'))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

describe('pictures and speech by the client of OpenAI', () => {
  test('a picture is drawn, as data or by its address, and changed', async () => {
    const drawn = await client.images.generate({
      model: 'builtin-canvas',
      prompt: '山间的月亮',
      size: '256x256',
      n: 2,
    });
    expect(drawn.data).toHaveLength(2);
    const png = Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    // Which of both is usual depends on OpenAI's model: who chooses none gets both.
    const same = await fetch(drawn.data?.[0]?.url ?? '');
    expect(same.headers.get('content-type')).toBe('image/png');
    const { data } = await client.images.generate({
      prompt: '山间的月亮',
      size: '256x256',
      response_format: 'url',
    });
    expect(data?.[0]?.b64_json).toBeUndefined();
    const fetched = await fetch(data?.[0]?.url ?? '');
    expect(fetched.headers.get('content-type')).toBe('image/png');
    const changed = await client.images.edit({
      model: 'builtin-canvas',
      image: await toFile(png, 'a.png', { type: 'image/png' }),
      prompt: '换成太阳',
      size: '256x256',
    });
    expect(changed.data?.[0]?.b64_json?.length).toBeGreaterThan(1000);
    expect(await failing(client.images.generate({ model: 'none', prompt: '月亮' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    const { list } = await user.person.call('apiUsage', {});
    expect(list.find((row) => row.model === 'builtin-canvas')?.count).toBe(3);
  });

  test('texts become vectors, those built in and those of a service', async () => {
    const own = await client.embeddings.create({
      model: 'builtin-embedding',
      input: ['山间的月亮', '山间的月光', '发动机'],
    });
    const [a = [], b = [], c = []] = own.data.map(({ embedding }) => embedding);
    const near = (x: number[], y: number[]) => x.reduce((sum, v, at) => sum + v * (y[at] ?? 0), 0);
    expect(a).toHaveLength(256);
    expect(near(a, a)).toBeCloseTo(1, 3);
    expect(near(a, b)).toBeGreaterThan(near(a, c));
    const many = Array.from({ length: 257 }, () => '月');
    for (const input of [many, '月'.repeat(100_001)])
      expect(
        await failing(client.embeddings.create({ model: 'builtin-embedding', input })),
      ).toMatchObject({ status: 400 });
    expect(await failing(client.embeddings.create({ model: 'none', input: '月亮' }))).toMatchObject(
      { status: 404, code: 'model_not_found' },
    );
  });

  test('words are spoken, and a recording is refused where nothing listens', async () => {
    const spoken = await client.audio.speech.create({
      model: 'builtin-voice',
      voice: 'alloy',
      input: '你好，鹊桥',
    });
    const sound = Buffer.from(await spoken.arrayBuffer());
    expect(sound.length).toBeGreaterThan(1000);
    const refused = await failing(
      client.audio.transcriptions.create({
        model: 'whisper-1',
        file: await toFile(sound, 'a.mp3'),
      }),
    );
    expect(refused).toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('failures as the client of OpenAI knows them', () => {
  const ask = (more: object = {}, from = client) =>
    from.chat.completions.create({ model, messages: say('好'), ...more });

  test('a wrong key, an unpaid account, no such model, too much', async () => {
    expect(await failing(ask({}, clientOf('1-wrong')))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
    const unpaid = await apiUser(server, { paid: false });
    const refused = await failing(ask({}, clientOf(unpaid.key)));
    expect(refused).toMatchObject({ status: 402, code: 'payment_required' });
    expect(refused.message).toContain('充值');
    expect(await failing(ask({ model: 'none' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    expect(await failing(ask({ messages: say('长'.repeat(6000)) }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    expect(await failing(ask({ messages: say('x'.repeat(21 * 1024 * 1024)) }))).toMatchObject({
      status: 413,
    });
    expect(await failing(ask({ n: 2, stream: true }))).toMatchObject({ status: 400, param: 'n' });
  });

  test('a model that is closed to programs, or has a limit of its own', async () => {
    const set = (fields: string) =>
      onDatabase(server, `UPDATE models SET ${fields} WHERE name = 'mock-mini'`);
    const mini = { model: 'mock-mini' };
    const long = { ...mini, messages: say('长'.repeat(600)) };
    const names = async () => (await client.models.list()).data.map(({ id }) => id);
    // The rows are looked at again after a while.
    const soon = { timeout: 10_000, interval: 500 };
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => '',
        (error: unknown) => (error as APIError).code,
      );
    await ask(long);
    await set('api_max_tokens = 300');
    try {
      await expect.poll(() => codeOf(ask(long)), soon).toBe('context_length_exceeded');
      await ask(mini);
      await set('api_max_tokens = NULL, disable_api = true');
      await expect.poll(() => codeOf(ask(mini)), soon).toBe('model_not_found');
      expect(await names()).not.toContain('mock-mini');
      expect(await failing(client.models.retrieve('mock-mini'))).toMatchObject({ status: 404 });
    } finally {
      await set('api_max_tokens = NULL, disable_api = false');
    }
    await expect.poll(names, soon).toContain('mock-mini');
    await expect.poll(() => codeOf(ask(mini)), soon).toBe('');
  });

  test('a page of any other site may call it with a key, and read what the headers tell', async () => {
    const url = `${server.baseURL}/v1/models`;
    const origin = 'https://program.example';
    const asked = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,x-stainless-os',
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/^\*.*\bauthorization\b/);
    for (const key of [user.key, '1-wrong']) {
      const { headers } = await fetch(url, { headers: { origin, authorization: `Bearer ${key}` } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toMatch(/x-request-id.*x-ratelimit/);
    }
  });

  test('a balance that does not suffice is 402 and stays as it is', async () => {
    const poor = await apiUser(server);
    await onDatabase(server, 'UPDATE wallets SET balance = 5 WHERE user_id = $1', [poor.userId]);
    expect(await failing(ask({}, clientOf(poor.key)))).toMatchObject({
      status: 402,
      code: 'insufficient_quota',
    });
    expect(await balance(poor)).toBe(5);
  });

  test('what the service refuses or breaks costs nothing', async () => {
    const taken = await spent(async () => {
      mock.enqueue('500');
      expect(await failing(ask())).toMatchObject({ status: 500 });
      mock.enqueue('429');
      const busy = await failing(ask());
      expect(busy).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
      expect(busy.headers?.get('retry-after')).toMatch(/^\d+$/);
      mock.enqueue('401');
      const key = await failing(ask());
      expect(key.status).toBe(502);
      expect(key.message).not.toContain('SECRET');
      mock.enqueue('context');
      expect(await failing(ask({ stream: true }))).toMatchObject({
        status: 400,
        code: 'context_length_exceeded',
      });
      mock.enqueue('cut-before');
      expect((await failing(ask({ stream: true }))).status).toBe(502);
    });
    expect(taken).toBe(0);
  });

  test('a stream that is cut says so, and costs what came', async () => {
    const before = await balance();
    mock.enqueue('cut-middle');
    const stream = await client.chat.completions.create({
      model,
      messages: say('好'),
      stream: true,
    });
    let text = '';
    const error = await failing(
      (async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      })(),
    );
    expect(text).not.toBe('');
    expect(error.code).toBe('upstream_error');
    await expect.poll(async () => before - (await balance())).toBeGreaterThan(0);
  });

  test('a service that falls silent is given up, before the first word and after it', async () => {
    const impatient = await beside({ MODEL_FIRST_WORD_SECONDS: '1', MODEL_IDLE_SECONDS: '1' });
    try {
      const bound = new OpenAI({
        apiKey: user.key,
        baseURL: `${impatient.baseURL}/v1`,
        maxRetries: 0,
      });
      mock.enqueue('hang-before');
      const late = await failing(ask({ stream: true }, bound));
      expect(late).toMatchObject({ status: 504, code: 'timeout' });
      mock.enqueue('hang-middle');
      const stream = await bound.chat.completions.create({
        model,
        messages: say('好'),
        stream: true,
      });
      let text = '';
      const error = await failing(
        (async () => {
          for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
        })(),
      );
      expect(text).not.toBe('');
      expect(error.code).toBe('timeout');
      await expect.poll(() => mock.active).toBe(0);
    } finally {
      await impatient.stop();
    }
  });

  test('a balance that runs out in mid-stream ends it, all spent and never more', async () => {
    const poor = await apiUser(server);
    await onDatabase(server, 'UPDATE wallets SET balance = 3000 WHERE user_id = $1', [poor.userId]);
    const stream = await clientOf(poor.key).chat.completions.create({
      model,
      messages: say('[[bench tokens=20000 rate=2000 id=poor]]'),
      stream: true,
    });
    let chunks = 0;
    const error = await failing(
      (async () => {
        for await (const _ of stream) chunks += 1;
      })(),
    );
    expect(error.code).toBe('insufficient_quota');
    expect(chunks).toBeGreaterThan(100);
    await expect.poll(() => mock.active).toBe(0);
    await expect.poll(() => balance(poor)).toBeLessThan(30);
    expect(await balance(poor)).toBeGreaterThanOrEqual(0);
  });

  test('a long question leaves for its answer what is left by an exact count', async () => {
    const question = '你好，我们今天去看电影吧，因为天气很好。'.repeat(100);
    const exact = countTokens(question);
    const rough = estimateTokens(question);
    expect(rough).toBeGreaterThan(exact * 1.1);
    const poor = await apiUser(server);
    const had = Math.floor((exact + rough) / 2);
    for (const stream of [true, false]) {
      await onDatabase(server, 'UPDATE wallets SET balance = $2 WHERE user_id = $1', [
        poor.userId,
        had,
      ]);
      await clientOf(poor.key).chat.completions.create({ model, messages: say(question), stream });
      expect(mock.lastRequest?.max_tokens).toBeGreaterThan((had - exact) * 0.8);
      expect(mock.lastRequest?.max_tokens).toBeLessThanOrEqual(had - exact);
    }
  });

  test('of a client that goes away no more is read, and billed what came', async () => {
    const before = await balance();
    const stream = await client.chat.completions.create({
      model,
      messages: say('[[bench tokens=5000 rate=40 id=gone]]'),
      stream: true,
    });
    let chunks = 0;
    for await (const _ of stream) {
      chunks += 1;
      if (chunks === 20) break;
    }
    await expect.poll(() => mock.active, { timeout: 15_000 }).toBe(0);
    await expect.poll(async () => before - (await balance())).toBeGreaterThan(20);
    expect(before - (await balance())).toBeLessThan(300);
  });

  test('too many requests in a minute are told with the time to wait', async () => {
    const other = await startServer({
      databaseUrl: server.databaseUrl,
      env: { API_REQUESTS: '2' },
    });
    try {
      const fast = new OpenAI({
        apiKey: user.key,
        baseURL: `${other.baseURL}/v1`,
        maxRetries: 0,
      });
      const { response } = await fast.models.list().withResponse();
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('2');
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('1');
      await fast.models.list();
      const refused = await failing(fast.models.list());
      expect(refused.status).toBe(429);
      expect(Number(refused.headers?.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await other.stop();
    }
  });

  test('too many tokens in a minute are told with the time to wait, and are another key’s as ever', async () => {
    const limit = 100;
    const other = await beside({ API_TOKENS: String(limit) });
    try {
      const own = await apiUser(server);
      const asking = (key: string) =>
        new OpenAI({ apiKey: key, baseURL: `${other.baseURL}/v1`, maxRetries: 0 });
      const [bound, free] = [asking(own.key), asking((await apiUser(server)).key)];
      const headers = (response: { headers: Headers } | { headers: Headers | undefined }) => {
        const get = (name: string) => response.headers?.get(`x-ratelimit-${name}-tokens`) ?? '';
        return { limit: get('limit'), left: get('remaining'), reset: get('reset') };
      };
      const long60 = { model, messages: say('月'.repeat(60)) };
      const before = headers((await bound.models.list().withResponse()).response);
      expect(before).toEqual({ limit: '100', left: '100', reset: '0s' });
      const first = headers((await bound.chat.completions.create(long60).withResponse()).response);
      expect(first.limit).toBe('100');
      expect(Number(first.left)).toBeGreaterThan(0);
      expect(Number(first.left)).toBeLessThanOrEqual(limit - 40);
      expect(first.reset).toMatch(/^([1-9]|[1-5]\d|60)s$/);
      // The answer counts as well, once it is known.
      const then = headers((await bound.models.list().withResponse()).response);
      expect(Number(then.left)).toBe(Number(first.left) - 7);
      const calls = mock.calls;
      const untouched = await balance(own);
      const ends = await Promise.all(
        Array.from({ length: 6 }, () => failing(bound.chat.completions.create(long60))),
      );
      for (const refused of ends) {
        expect(refused.status).toBe(429);
        const wait = Number(refused.headers?.get('retry-after'));
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(60);
      }
      expect(mock.calls).toBe(calls);
      expect(await balance(own)).toBe(untouched);
      // What was refused is not counted.
      const after = headers((await bound.models.list().withResponse()).response);
      expect(after.left).toBe(then.left);
      await free.chat.completions.create(long60);
      // Six at once are judged one after the other.
      const many = asking((await apiUser(server)).key);
      const asked = await Promise.allSettled(
        Array.from({ length: 6 }, () => many.chat.completions.create(long60)),
      );
      expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      // A question larger than a minute's share has a minute of its own.
      const large = asking((await apiUser(server)).key);
      await large.chat.completions.create({ model, messages: say('月'.repeat(300)) });
      expect((await failing(large.chat.completions.create(long60))).status).toBe(429);
    } finally {
      await other.stop();
    }
  });
});

describe('keys', () => {
  test('are kept for their owner alone, encrypted, and five at most', async () => {
    const one = await apiUser(server);
    const { list, userinfo } = await one.person.call('apiKeys', {});
    const secret = one.key.slice(one.key.indexOf('-') + 1);
    expect(one.key.startsWith(`${one.userId}-`)).toBe(true);
    const mask = `${secret.slice(0, 10)}••••••${secret.slice(-10)}`;
    expect(list[0]).toMatchObject({ api_key: secret, mask, kept: true });
    expect(userinfo).toMatchObject({
      user_id: one.userId,
      may_use: true,
      keys_shown_once: false,
    });
    const [stored] = await onDatabase<{ sealed: Buffer }>(
      server,
      'SELECT * FROM api_keys WHERE id = $1',
      [one.keyId],
    );
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(stored?.sealed.toString('latin1')).not.toContain(secret);
    // What is kept in one row opens in no other.
    const other = await apiUser(server);
    await onDatabase(server, 'UPDATE api_keys SET sealed = $2 WHERE id = $1', [
      other.keyId,
      stored?.sealed,
    ]);
    const [moved] = (await other.person.call('apiKeys', {})).list;
    expect(moved).toMatchObject({ kept: false, api_key: moved?.mask });
    const made = await Promise.allSettled(
      Array.from({ length: 8 }, () => one.person.call('genKey', {})),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  });

  test('are shown once where their owner chooses so, and then never again', async () => {
    const one = await apiUser(server);
    const list = async () => (await one.person.call('apiKeys', {})).list;
    const whole = (await list())[0]?.api_key;
    await one.person.call('keysShownOnce', { on: true });
    const made = await one.person.call('genKey', {});
    for (const row of await list()) expect(row).toMatchObject({ kept: false, api_key: row.mask });
    expect(JSON.stringify(await list())).not.toContain(whole);
    const [{ count } = { count: '' }] = await onDatabase<{ count: string }>(
      server,
      'SELECT count(sealed) FROM api_keys WHERE user_id = $1',
      [one.userId],
    );
    expect(count).toBe('0');
    // They work as before, and stay unknown when the choice is taken back.
    await clientOf(one.key).models.list();
    await clientOf(made.full_key).models.list();
    await one.person.call('keysShownOnce', { on: false });
    expect((await list()).map(({ kept }) => kept)).toEqual([false, false]);
    await one.person.call('genKey', {});
    expect((await list()).map(({ kept }) => kept)).toEqual([false, false, true]);
    expect((await one.person.call('delKey', { api_key: made.full_key })).deleted).toBe(true);
    expect(await list()).toHaveLength(2);
  });

  test('tell when they were used last', async () => {
    const one = await apiUser(server);
    const lastUsed = async () => (await one.person.call('apiKeys', {})).list[0]?.last_used_at;
    expect(await lastUsed()).toBeNull();
    await clientOf(one.key).models.list();
    await expect.poll(lastUsed).toEqual(expect.any(String));
    // It is noted once a minute at most by one server: another has not noted it yet.
    const past = new Date('2020-01-01T00:00:00Z').toISOString();
    await onDatabase(server, 'UPDATE api_keys SET last_used_at = $2 WHERE id = $1', [
      one.keyId,
      past,
    ]);
    expect(await lastUsed()).toBe(past);
    const other = await beside();
    try {
      const bound = new OpenAI({ apiKey: one.key, baseURL: `${other.baseURL}/v1` });
      await bound.models.list();
      await expect.poll(lastUsed).not.toBe(past);
    } finally {
      await other.stop();
    }
  });

  test('may be bound to models, addresses and a time', async () => {
    const models = await apiUser(server, { key: { models: ['mock-mini'] } });
    const bound = clientOf(models.key);
    expect((await bound.models.list()).data.map(({ id }) => id)).toEqual(['mock-mini']);
    expect(
      (await failing(bound.chat.completions.create({ model, messages: say('好') }))).status,
    ).toBe(404);
    const away = await apiUser(server, { key: { addresses: ['203.0.113.0/24'] } });
    expect((await failing(clientOf(away.key).models.list())).status).toBe(403);
    const here = await apiUser(server, { key: { addresses: ['127.0.0.0/8', '::1'] } });
    await clientOf(here.key).models.list();
    const late = await apiUser(server);
    await onDatabase(server, 'UPDATE api_keys SET expires_at = now() WHERE id = $1', [late.keyId]);
    expect((await failing(clientOf(late.key).models.list())).status).toBe(401);
  });

  test('a limit of a month holds to the token under 100 calls at once', async () => {
    const limit = 1000;
    const few = await apiUser(server, { key: { month_limit: limit } });
    const bound = clientOf(few.key);
    const ends = await Promise.allSettled(
      Array.from({ length: 100 }, (_, at) =>
        at % 2 === 0
          ? bound.chat.completions.create({ model, messages: say('好'), max_tokens: 40 })
          : bound.chat.completions.stream({ model, messages: say('好') }).finalChatCompletion(),
      ),
    );
    const good = ends.filter(({ status }) => status === 'fulfilled').length;
    expect(good).toBeGreaterThan(0);
    for (const end of ends)
      if (end.status === 'rejected')
        expect((end.reason as APIError).code).toBe('key_limit_reached');
    // One after another until nothing more fits.
    for (let more = 0; more < 100; more += 1)
      if (
        await bound.chat.completions.create({ model, messages: say('好'), max_tokens: 16 }).then(
          () => false,
          () => true,
        )
      )
        break;
    const { list } = await few.person.call('apiKeys', {});
    expect(list[0]?.month_used).toBeLessThanOrEqual(limit);
    expect(list[0]?.month_used).toBeGreaterThan(limit - 60);
    expect(1_000_000 - (await balance(few))).toBe(list[0]?.month_used);
    const [left] = await onDatabase<{ running: string }>(
      server,
      'SELECT count(*) AS running FROM api_running WHERE key_id = $1 AND ended_at IS NULL',
      [few.keyId],
    );
    expect(left?.running).toBe('0');
  });

  test('a deleted one ends its running stream and opens nothing any more', async () => {
    const gone = await apiUser(server);
    const bound = clientOf(gone.key);
    const stream = await bound.chat.completions.create({
      model,
      messages: say('[[bench tokens=5000 rate=200 id=deleted]]'),
      stream: true,
    });
    let chunks = 0;
    const error = await failing(
      (async () => {
        for await (const _ of stream) {
          chunks += 1;
          if (chunks === 5) await gone.person.call('delKey', { id: gone.keyId });
        }
      })(),
    );
    expect(error.code).toBe('invalid_api_key');
    expect(chunks).toBeLessThan(500);
    expect((await failing(bound.models.list())).status).toBe(401);
    await expect.poll(() => mock.active, { timeout: 15_000 }).toBe(0);
  });

  test('a server that restarts lets a stream end, or ends it with a word and its bill', async () => {
    const own = await apiUser(server);
    const other = await beside({ DRAIN_SECONDS: '8' });
    const bound = new OpenAI({
      apiKey: own.key,
      baseURL: `${other.baseURL}/v1`,
      maxRetries: 0,
    });
    const streams = ['tokens=60 rate=20 id=short', 'tokens=5000 rate=20 id=long'];
    const read = await Promise.all(
      streams.map(async (bench) => {
        const messages = say(`[[bench ${bench}]]`);
        const stream = await bound.chat.completions.create({ model, messages, stream: true });
        const chunks = stream[Symbol.asyncIterator]();
        await chunks.next();
        return async () => {
          let finish: string | null = null;
          for (let next = await chunks.next(); !next.done; next = await chunks.next())
            finish = next.value.choices[0]?.finish_reason ?? finish;
          return finish;
        };
      }),
    );
    const [short, long] = read.map((rest) => rest());
    const stopped = other.stop();
    expect(await short).toBe('stop');
    const error = await failing(long!);
    expect(error.message).toContain('正在重启');
    await stopped;
    const holds = await onDatabase<{ state: string; spent: number }>(
      server,
      `SELECT state, spent::int FROM holds WHERE user_id = $1 ORDER BY spent`,
      [own.userId],
    );
    expect(holds.map(({ state }) => state)).toEqual(['settled', 'settled']);
    expect(1_000_000 - (await balance(own))).toBe(holds[0]!.spent + holds[1]!.spent);
    await expect.poll(() => mock.active).toBe(0);
  });

  test('usage of a day and a month is told by key and model', async () => {
    const one = await apiUser(server);
    const bound = clientOf(one.key);
    await bound.chat.completions.create({ model, messages: say('好') });
    await bound.chat.completions.create({ model, messages: say('好') });
    await bound.chat.completions.create({ model: 'builtin-assistant', messages: say('3*7') });
    const { list } = await one.person.call('apiUsage', {});
    expect(list).toHaveLength(2);
    expect(list.find((row) => row.model === model)).toMatchObject({
      count: 2,
      prompt_tokens: 22,
      completion_tokens: 14,
      tokens: 36,
      deduct_tokens: 36,
      real_prompt_tokens: 22,
    });
    const secret = one.key.slice(one.key.indexOf('-') + 1);
    expect(list.map(({ api_key: key }) => key)).toEqual([secret, secret]);
    const day = list[0]?.date;
    expect((await one.person.call('apiUsage', { day })).list).toEqual(list);
    expect((await one.person.call('apiUsage', { month: '2020-01' })).list).toEqual([]);
    // As pickers of months and days write them.
    const [year = '', month = '', date = ''] = (day ?? '').split('-');
    const months = [`${year}/${Number(month)}`, `${year}${month}`, `${year}年${Number(month)}月`];
    for (const written of [...months, `${day}T02:00:00.000Z`])
      expect((await one.person.call('apiUsage', { month: written })).list).toEqual(list);
    const days = [`${year}/${Number(month)}/${Number(date)}`, `${year}${month}${date}`];
    for (const written of [...days, `${day} 12:00:00`, `${day}T02:00:00.000Z`])
      expect((await one.person.call('apiUsage', { day: written })).list).toEqual(list);
    for (const wrong of ['0000-01', '2026-13', '昨天', '2026-01-01T', '2026-1-1-1'])
      expect((await one.person.raw('apiUsage', { month: wrong })).status).toBe(422);
    expect((await one.person.raw('apiUsage', { day: `${year}-${month}` })).status).toBe(422);
    expect((await one.person.raw('apiUsage', { day: '2026-02-31' })).code).toBeGreaterThan(0);
  });
});

describe('several services of one model', () => {
  test('another one answers before the first word, and is named', async () => {
    const [{ id } = { id: 0 }] = await onDatabase<{ id: number }>(
      server,
      `INSERT INTO channels (key, kind, label, base_url, source)
       VALUES ('spare', 'openai-compatible', '备用', $1, 'manager') RETURNING id::int`,
      [spare.baseURL],
    );
    await onDatabase(
      server,
      `INSERT INTO model_channels (model_id, channel_id, upstream_name, priority, weight)
       SELECT id, $1, 'spare-name', 10, 1 FROM models WHERE name = $2`,
      [id, 'mock-mini'],
    );
    await sleep(3_100);
    mock.enqueue('500', '500');
    const asked = { model: 'mock-mini', messages: say('好') };
    const { data, response } = await client.chat.completions.create(asked).withResponse();
    expect(data.model).toBe('mock-mini');
    expect(spare.lastRequest?.model).toBe('spare-name');
    expect(decodeURIComponent(response.headers.get('x-channel') ?? '')).toBe('备用');
    const names = new Set<string>();
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }))
      names.add(chunk.model);
    expect([...names]).toEqual(['mock-mini']);
    expect(spare.calls).toBe(2);
  });
});

describe('the calls of the specification by a client written from it alone', () => {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${server.baseURL}/v1/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${user.key}`,
        ...headers,
      },
      body: JSON.stringify(body),
    });

  test('chat, whole and streamed; a stream’s error is an array', async () => {
    const whole = (await (await post('chat', { model, messages: say('你好') })).json()) as object;
    expect(whole).toMatchObject({
      result: true,
      content: mock.textFor('你好'),
      usage: { prompt_tokens: 11, completion_tokens: 7, deduct_tokens: 18 },
    });
    const events = async (question: string) => {
      const text = await (
        await post('chat', { model, messages: say(question), stream: true })
      ).text();
      return text
        .split('\n\n')
        .filter((frame) => frame !== '')
        .map((frame) => frame.replace(/^data: /, ''));
    };
    const good = await events('流');
    expect(good.at(-1)).toBe('[DONE]');
    expect(
      good
        .slice(0, -1)
        .map((data) => JSON.parse(data) as string)
        .join(''),
    ).toBe(mock.textFor('流'));
    const cut = await events('[[mock cut-middle]] 流');
    expect(JSON.parse(cut.at(-1) ?? '')).toEqual([502, expect.stringMatching(/\p{Script=Han}/u)]);
  });

  test('a failure is false with a code and a message', async () => {
    const refused = await post('chat', { model: 'none', messages: say('你好') });
    expect(refused.status).toBe(404);
    expect(await refused.json()).toEqual({
      result: false,
      code: 1413,
      message: expect.stringContaining('none'),
    });
  });

  test('translate, inscriptor and balance', async () => {
    const translated = await post('translate', { text: '月亮', to: 'en' });
    expect(await translated.json()).toMatchObject({ result: true, translated: true });
    expect(mock.lastRequest?.messages[0]?.content).toContain('英文');
    expect(await (await post('inscriptor', { text: '月亮' })).json()).toMatchObject({
      result: true,
      text: mock.textFor('月亮').trim(),
    });
    const told = await fetch(`${server.baseURL}/v1/balance`, {
      headers: { authorization: `Bearer ${user.key}` },
    });
    expect(await told.json()).toMatchObject({ result: true, balance: await balance() });
  });

  test('an answer in which there is nothing costs nothing, and says so to each', async () => {
    // Each has its own room for what is answered by nothing.
    const other = await apiUser(server);
    const own = { authorization: `Bearer ${other.key}` };
    const before = await balance(other);
    const told = '模型没有返回内容，请重试';
    const one = { model, messages: say('空') };
    const asked: [string, object][] = [
      ['chat', one],
      ['chat/completions', one],
      ['completions', { model, prompt: '空' }],
      ['responses', { model, input: '空' }],
      ['messages', { ...one, max_tokens: 100 }],
      ['translate', { text: '空', to: 'en', model }],
      ['inscriptor', { text: '空' }],
    ];
    for (const nothing of ['empty', 'no-room'] as const)
      for (const [path, body] of asked) {
        mock.enqueue(nothing);
        const answer = await post(path, body, own);
        const text = await answer.text();
        expect([path, answer.status, text]).toEqual([path, 502, expect.stringContaining(told)]);
        if (path === 'translate' || path === 'inscriptor') continue;
        mock.enqueue(nothing);
        const events = await (await post(path, { ...body, stream: true }, own)).text();
        expect(events.split('\n\n').findLast((frame) => frame !== '')).toContain(told);
        // A good answer in between keeps the channel in use.
        await client.chat.completions.create({ model, messages: say('好') });
      }
    expect(await balance(other)).toBe(before);
    let tries = 0;
    for (let status = 502; status === 502 && tries < 200; tries += 1) {
      mock.always('empty');
      ({ status } = await post('chat', one, own));
    }
    mock.always('normal');
    expect(tries).toBeLessThan(120);
    const refused = await post('chat', { ...one, stream: true }, own);
    expect([refused.status, await refused.text()]).toEqual([
      429,
      expect.stringContaining('没有写出内容'),
    ]);
    expect(await balance(other)).toBe(before);
  });

  test('words that a service streams as messages arrive', async () => {
    for (const [path, body] of [
      ['chat', { model, messages: say('[[mock messages]] 话') }],
      ['chat/completions', { model, messages: say('[[mock messages]] 话') }],
    ] as const) {
      const events = await (await post(path, { ...body, stream: true })).text();
      const said = [...events.matchAll(/^data: (?!\[DONE\])(.*)$/gm)]
        .map(([, data = '']) => JSON.parse(data) as unknown)
        .map((data) =>
          typeof data === 'string'
            ? data
            : ((data as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta
                ?.content ?? ''),
        );
      expect(said.join('')).toBe(mock.textFor('[[mock messages]] 话'));
    }
  });

  test('inscriptor spends by no model that the key may not use', async () => {
    const bound = await apiUser(server, { key: { models: ['builtin-voice'], month_limit: 1 } });
    await onDatabase(server, 'UPDATE wallets SET balance = 5000 WHERE user_id = $1', [
      bound.userId,
    ]);
    const { calls } = mock;
    const answer = await fetch(`${server.baseURL}/v1/inscriptor`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bound.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: '月亮' }),
    });
    expect(await answer.json()).toMatchObject({
      result: true,
      text: expect.stringMatching(/^月亮，/),
    });
    expect((await bound.person.call('userInfo', {})).chatgpt_balance).toBe(5000);
    expect(mock.calls).toBe(calls);
  });

  test('speech is an audio file; what cannot be read is refused in words', async () => {
    const told = await post('speech', { text: '月亮很圆' });
    expect([told.status, told.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    const slow = await post('speech', { text: '月亮很圆', speed: 0.5, model: 'builtin-voice' });
    const [usual, long] = [await told.arrayBuffer(), await slow.arrayBuffer()];
    expect(usual.byteLength).toBeGreaterThan(1000);
    expect(long.byteLength).toBeGreaterThan(usual.byteLength * 1.3);
    for (const [body, status] of [
      [{}, 422],
      [{ text: '' }, 422],
      [{ text: '月亮', speed: 9 }, 422],
      [{ text: '月亮', model: 'none' }, 404],
      [{ text: '月亮', model }, 404],
      [{ text: '……' }, 400],
    ] as const) {
      const refused = await post('speech', body);
      expect([body, refused.status]).toEqual([body, status]);
      expect(await refused.json()).toEqual({
        result: false,
        code: expect.any(Number),
        message: expect.stringMatching(/\p{Script=Han}/u),
      });
    }
    expect(
      (await post('speech', { text: '月亮' }, { authorization: 'Bearer 1-none' })).status,
    ).toBe(401);
  });

  test('pictures: asked for, waited for, made larger, freed of their background', async () => {
    const get = async (id: string) => {
      const answer = await fetch(`${server.baseURL}/v1/progress?request_id=${id}`, {
        headers: { authorization: `Bearer ${user.key}` },
      });
      return (await answer.json()) as {
        state: string;
        progress: number;
        images: { url: string; width: number }[];
      };
    };
    const done = async (response: Response) => {
      const { request_id: id, result } = (await response.json()) as {
        request_id: string;
        result: boolean;
      };
      expect(result).toBe(true);
      await expect.poll(async () => (await get(id)).state, { timeout: 20_000 }).toBe('done');
      return (await get(id)).images;
    };
    const [drawn] = await done(await post('image', { prompt: '月亮', size: '256x256', n: 1 }));
    expect(drawn?.width).toBe(256);
    const image_url = drawn?.url ?? '';
    // The upscaler by the name that the site's own call takes.
    for (const wish of [{ scale: 2 }, { model: 'ESRGAN_4x', resize: 2 }]) {
      const [large] = await done(await post('upscale', { image_url, ...wish }));
      expect(large?.width).toBe(512);
    }
    expect(await done(await post('removeBg', { image_url }))).toHaveLength(1);
    expect(await done(await post('editBg', { image_url, bg_color: '#ff0000' }))).toHaveLength(1);
    const said = await (await post('interrogate', { image_url })).json();
    expect(said).toMatchObject({ result: true, text: expect.stringMatching(/./) });
    const stranger = await apiUser(server);
    const other = await fetch(image_url);
    expect(other.status).toBe(200);
    expect((await stranger.person.call('imageIndex', { page: 1 })).list).toEqual([]);
  });

  test('a repeat with its idempotency-key is answered as the first, for nothing', async () => {
    const key = { 'idempotency-key': 'order 17' };
    const first = await post('chat', { model, messages: say('一次') }, key);
    const told = await first.json();
    const calls = mock.calls;
    const taken = await spent(async () => {
      const again = await post('chat', { model, messages: say('一次') }, key);
      expect(await again.json()).toEqual(told);
      expect(again.headers.get('x-idempotent-replay')).toBe('true');
      expect((await post('chat', { model, messages: say('别的') }, key)).status).toBe(409);
    });
    expect(taken).toBe(0);
    expect(mock.calls).toBe(calls);
  });

  test('nothing is made twice under one key: no sound, no work, no image of a file', async () => {
    const key = { 'idempotency-key': 'order 18' };
    const spoken = { model: 'builtin-voice', input: '只念一次', voice: 'alloy' };
    expect((await post('audio/speech', spoken, key)).status).toBe(200);
    expect((await post('audio/speech', spoken, key)).status).toBe(409);
    const wish = { image_base64: onePixel.toString('base64') };
    const works = [await post('removeBg', wish, key), await post('removeBg', wish, key)];
    const [one, other] = await Promise.all(works.map((answer) => answer.json()));
    expect(other).toEqual(one);
    const edit = async (letters: string) => {
      const form = new FormData();
      form.set('model', 'builtin-canvas');
      form.set('prompt', '换成太阳');
      form.set('size', '256x256');
      const image = Buffer.concat([onePixel, Buffer.from(letters)]);
      form.set('image', new Blob([new Uint8Array(image)], { type: 'image/png' }), 'a.png');
      const headers = { authorization: `Bearer ${user.key}`, ...key };
      const url = `${server.baseURL}/v1/images/edits`;
      return fetch(url, { method: 'POST', headers, body: form });
    };
    const first = await (await edit('a')).json();
    expect(await (await edit('a')).json()).toEqual(first);
    expect((await edit('b')).status).toBe(409);
  });
});
