import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/**
 * A service that speaks OpenAI's chat completions, well or badly. What it does for a request is
 * told by, in this order: the queue (`enqueue`), the last user message (`[[mock NAME]]` or
 * `[[bench tokens=N rate=R id=X]]`), the scenario set with `always`, or else a normal answer.
 * To a question with `[[told]]` it answers what it was told before it (the system message).
 *
 * Bench: N tokens of Markdown, R a second (0: at once), ended by `END-X-DONE`; with ` stamp=1`
 * every token is the time it left, `@<epoch ms>@ `. GET /__mock/log/X tells when its first and last
 * byte left (epoch ms), GET /__mock/stat what the process has used.
 */
const scenarios = [
  /** Text, usage, stop. */
  'normal',
  'no-usage',
  /** Says that nothing was used. */
  'no-tokens',
  /** Calls the first tool that was offered. */
  'tools',
  'no-done',
  'no-finish',
  'reasoning',
  /** Every byte in a write of its own. */
  'split',
  'crlf',
  'comments',
  /** The whole answer as one JSON body, though a stream was asked for. */
  'json',
  /** The words of each event stand in `message`. */
  'messages',
  'empty',
  /** Nothing, because there was no room for more. */
  'no-room',
  'length',
  'content-filter',
  /** 400 for a request that carries stream_options; otherwise normal. */
  'no-stream-options',
  /** 400 that names max_tokens for a request that carries it; otherwise normal. */
  'no-max-tokens',
  /** The whole answer after half a second, with 3,000 tokens counted. */
  'late',
  /** Thinks unseen for half a second, which its usage alone tells: 3,000 tokens. */
  'unseen',
  /** Writes 2,000 letters where no service documents text, then waits and tells no usage. */
  'beside',
  '429',
  /** 429 that does not say when to come again. */
  '429-bare',
  /** 403 without a reason for programs. */
  '403',
  /** 404: it has no such model. */
  'no-model',
  /** The first word after a second and a half. */
  'slow',
  '500',
  '401',
  'redirect',
  'quota',
  'context',
  'context-llama',
  'html',
  /** An error object in the middle of a stream. */
  'error-event',
  'cut-before',
  'cut-first',
  'cut-middle',
  /** All text and finish_reason, but the connection breaks before usage. */
  'cut-usage',
  'garbage',
  'garbage-middle',
  'hang-before',
  'hang-first',
  'hang-middle',
  /** One byte a second. */
  'drip',
  /** Text without an end. */
  'endless',
  /** One event without an end: up to 1 GB. */
  'huge',
  /** A JSON body without an end. */
  'huge-json',
] as const;
export type Scenario = (typeof scenarios)[number];

type Part =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: string } };

/** A picture as it came. */
export interface MockPicture {
  /** Of a data URL; empty for an address. */
  mime: string;
  data: Buffer;
  /** Empty for a data URL. */
  url: string;
  detail: string;
}

interface MockRequest {
  model: string;
  /** Null: a call of a tool with nothing said beside it. */
  messages: { role: string; content: string | Part[] | null }[];
  stream?: boolean;
  stream_options?: unknown;
  temperature?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  max_tokens?: number;
  tools?: { function?: { name: string } }[];
  response_format?: { type: string };
  [field: string]: unknown;
}

export interface MockOpenAi {
  /** With `/v1`, as OPENAI_BASE_URL wants it. */
  baseURL: string;
  port: number;
  /** Chat requests so far, refused ones included. */
  calls: number;
  /** Replies that are being written. */
  active: number;
  lastRequest: MockRequest | null;
  /** The pictures of the last request, in all its messages. */
  lastPictures: MockPicture[];
  lastAuthorization: string;
  /** Bytes of the last answer that the client took. */
  bytesSent: number;
  /** What GET /models tells. */
  models: string[];
  /** How long a normal answer takes to its first word, ms. */
  firstMs: number;
  /** The next requests, one each. */
  enqueue(...next: Scenario[]): void;
  always(scenario: Scenario): void;
  /** What a normal answer to this prompt says. */
  textFor(prompt: string): string;
  close(): Promise<void>;
}

/** Characters of several bytes and of several code points, so that cuts inside of them show. */
const specimen = '流式输出😀👨‍👩‍👧‍👦：é、𠮷野家。';

/** What is answered where a schema was asked for. */
export const mockJson = '{"city":"北京","degrees":21}';

const paragraphs = [
  '## 第 # 节\n\n把每一次更新合并到下一帧，已经写完的段落不再重新排版。',
  '- 第一点：**先量后改**\n- 第二点：`await` 之前先检查信号\n  - 细节：超时与重试要分开\n- 第三点：失败也要说明原因',
  '```ts\nexport const sum = (values: number[]): number =>\n  values.reduce((total, value) => total + value, 0);\n```',
  '| 方案 | 耗时 | 备注 |\n| --- | ---: | --- |\n| 甲 | 12 ms | 简单 |\n| 乙 | 7 ms | 复杂一些 |',
  'A bridge carries many feet and asks none of them for a name; it only has to stand while they pass.',
  '> 引用一段话，看看引用块在流式输出时是否稳定。',
  '行内公式 $E = mc^2$，以及独立公式：\n\n$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$',
];

const tokensOf = (text: string): string[] =>
  text.match(
    /\p{Script=Han}{1,2}|\s*[A-Za-z0-9]{1,5}|\s*[^\sA-Za-z0-9\p{Script=Han}]{1,3}|\s+/gu,
  ) ?? [];

const benchTokens = (count: number): string[] => {
  const tokens: string[] = [];
  for (let at = 0; tokens.length < count; at += 1) {
    const paragraph = paragraphs[at % paragraphs.length] ?? '';
    tokens.push(...tokensOf(`${paragraph.replace(' # ', ` ${at + 1} `)}\n\n`));
  }
  return tokens.slice(0, count);
};

const head = (model: string) => ({
  id: 'chatcmpl-mock',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model,
});

/** Every picture of a request: what a data URL holds, or the address. */
const picturesOf = (request: MockRequest): MockPicture[] =>
  request.messages.flatMap(({ content }) =>
    typeof content === 'string' || content === null
      ? []
      : content.flatMap((part) => {
          if (part.type === 'text') return [];
          const { url, detail = 'auto' } = part.image_url;
          const [, mime, data] = /^data:([^;,]+);base64,(.*)$/.exec(url) ?? [];
          return mime !== undefined && data !== undefined
            ? [{ mime, data: Buffer.from(data, 'base64'), url: '', detail }]
            : [{ mime: '', data: Buffer.alloc(0), url, detail }];
        }),
  );

/** The words of the last question, and a line for each picture with it: `[picture high image/jpeg]`. */
const lastQuestion = (request: MockRequest): string => {
  const content = request.messages.filter((message) => message.role === 'user').at(-1)?.content;
  if (!content || typeof content === 'string') return content ?? '';
  return content
    .map((part) => {
      if (part.type === 'text') return part.text;
      const { url, detail } = part.image_url;
      const kind = /^data:([\w/]+);base64,/.exec(url)?.[1] ?? new URL(url).host;
      return `[picture ${detail ?? 'auto'} ${kind}]`;
    })
    .join('\n\n');
};

const now = () => performance.timeOrigin + performance.now();

/** Starts it on 127.0.0.1, on any free port unless one is given. */
export const startMockOpenAi = async (port = 0): Promise<MockOpenAi> => {
  const queue: Scenario[] = [];
  let standing: Scenario = 'normal';
  const log = new Map<string, { firstByte: number; lastByte: number; tokens: number }>();
  const benches = new Map<string, string[]>();

  const mock: MockOpenAi = {
    baseURL: '',
    port: 0,
    calls: 0,
    active: 0,
    lastRequest: null,
    lastPictures: [],
    lastAuthorization: '',
    firstMs: 0,
    bytesSent: 0,
    models: ['mock-chat', 'mock-mini', 'mock-embedding', 'tts-mock', 'whisper-mock'],
    enqueue: (...next) => {
      queue.push(...next);
    },
    always: (scenario) => {
      standing = scenario;
    },
    textFor: (prompt) => `您说：${prompt}\n\n${specimen}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };

  const json = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
  const refuse = (
    response: ServerResponse,
    status: number,
    error: Record<string, unknown>,
    headers = {},
  ) => json(response, status, { error: { message: 'SECRET upstream words', ...error } }, headers);

  /** Writes and waits while the client does not take it; false when the client has left. */
  const put = async (response: ServerResponse, data: string | Buffer): Promise<boolean> => {
    if (response.destroyed) return false;
    mock.bytesSent += Buffer.byteLength(data);
    if (response.write(data)) return true;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go).off('close', go);
        resolve();
      };
      response.on('drain', go).on('close', go);
    });
    return !response.destroyed;
  };

  const left = (response: ServerResponse) =>
    new Promise<void>((resolve) => {
      response.once('close', () => resolve());
    });

  const bench = async (
    response: ServerResponse,
    model: string,
    options: { count: number; rate: number; id: string; stamp: boolean },
  ) => {
    const { count, rate, id, stamp } = options;
    const key = String(count);
    if (!benches.has(key)) benches.set(key, benchTokens(count));
    const tokens = [...(benches.get(key) ?? []), ...tokensOf(`\n\nEND-${id}-DONE`)];
    const start = now();
    const record = { firstByte: start, lastByte: 0, tokens: tokens.length };
    const before = JSON.stringify({ ...head(model), choices: [] }).replace('[]}', '');
    const event = (delta: unknown, finish: string | null = null) =>
      `data: ${before}[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
    const token = (at: number) =>
      event({ content: stamp && at < count ? `@${now().toFixed(2)}@ ` : tokens[at] });
    if (!(await put(response, event({ role: 'assistant', content: '' })))) return;
    let at = 0;
    while (at < tokens.length) {
      const due =
        rate === 0
          ? Math.min(tokens.length, at + 64)
          : Math.min(tokens.length, Math.floor(((now() - start) * rate) / 1000));
      while (at < due) {
        if (!(await put(response, token(at)))) return;
        at += 1;
      }
      if (rate > 0 && at < tokens.length)
        await sleep(Math.max(1, start + ((at + 1) * 1000) / rate - now()));
    }
    await put(response, event({}, 'stop'));
    const usage = { prompt_tokens: 20, completion_tokens: tokens.length };
    await put(response, `data: ${before}[],"usage":${JSON.stringify(usage)}}\n\n`);
    record.lastByte = now();
    log.set(id, record);
    response.end('data: [DONE]\n\n');
  };

  const play = async (scenario: Scenario, request: MockRequest, response: ServerResponse) => {
    const asked = lastQuestion(request);
    const [system] = request.messages;
    const prompt = asked.includes('[[told]]') ? JSON.stringify(system?.content) : asked;
    // What is asked for in a form comes in it.
    const text = request.response_format?.type === 'json_schema' ? mockJson : mock.textFor(prompt);
    const usage = {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
    };
    const chunk = (delta: unknown, finish: string | null = null) =>
      `data: ${JSON.stringify({ ...head(request.model), choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const counted = `data: ${JSON.stringify({ ...head(request.model), choices: [], usage })}\n\n`;
    const done = 'data: [DONE]\n\n';
    const pieces = tokensOf(text);
    const half = pieces.slice(0, Math.ceil(pieces.length / 2));
    const words = (list: readonly string[]) => list.map((content) => chunk({ content })).join('');
    const opening = chunk({ role: 'assistant', content: '' });
    const begin = (type = 'text/event-stream; charset=utf-8') =>
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
    const whole = async (...parts: string[]) => {
      begin();
      for (const part of parts) if (!(await put(response, part))) return;
      response.end();
    };
    /** Lets what was written reach the client, then breaks the connection. */
    const cut = async () => {
      await sleep(50);
      response.socket?.resetAndDestroy();
    };

    switch (scenario) {
      case 'normal':
      case 'no-stream-options':
      case 'no-max-tokens':
        if (mock.firstMs > 0) await sleep(mock.firstMs);
        if (scenario === 'no-max-tokens' && request.max_tokens !== undefined) {
          refuse(response, 400, { type: 'invalid_request_error', param: 'max_tokens' });
          return;
        }
        if (scenario === 'no-stream-options' && request.stream_options !== undefined) {
          refuse(response, 400, { type: 'invalid_request_error', code: null, param: null });
          return;
        }
        if (!request.stream) {
          await play('json', request, response);
          return;
        }
        begin();
        for (const piece of [opening, ...pieces.map((content) => chunk({ content }))]) {
          if (!(await put(response, piece))) return;
          await sleep(2);
        }
        await put(response, chunk({}, 'stop') + counted);
        response.end(done);
        return;
      case 'tools': {
        const name = request.tools?.[0]?.function?.name ?? 'none';
        const pieces = ['{"city":', '"北京"}'];
        if (!request.stream) {
          const called = {
            id: 'call_1',
            type: 'function',
            function: { name, arguments: pieces.join('') },
          };
          json(response, 200, {
            ...head(request.model),
            object: 'chat.completion',
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: null, tool_calls: [called] },
                finish_reason: 'tool_calls',
              },
            ],
            usage,
          });
          return;
        }
        const call = (more: object) => chunk({ tool_calls: [{ index: 0, ...more }] });
        await whole(
          opening,
          call({ id: 'call_1', type: 'function', function: { name, arguments: '' } }),
          ...pieces.map((piece) => call({ function: { arguments: piece } })),
          chunk({}, 'tool_calls'),
          counted,
          done,
        );
        return;
      }
      case 'unseen':
        begin();
        if (!(await put(response, opening))) return;
        await sleep(500);
        await put(response, words(pieces));
        await sleep(500);
        await put(response, counted.replace('"completion_tokens":7', '"completion_tokens":3000'));
        response.end(done);
        return;
      case 'beside':
        begin();
        await put(response, chunk({ audio: { transcript: '听'.repeat(2000) } }));
        await sleep(500);
        await put(response, chunk({}, 'stop'));
        response.end(done);
        return;
      case 'no-usage':
        await whole(opening, words(pieces), chunk({}, 'stop'), done);
        return;
      case 'no-tokens': {
        const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
        await whole(
          opening,
          words(pieces),
          chunk({}, 'stop'),
          counted.replace(JSON.stringify(usage), JSON.stringify(none)),
          done,
        );
        return;
      }
      case 'no-done':
        await whole(opening, words(pieces), chunk({}, 'stop'), counted);
        return;
      case 'no-finish':
        await whole(opening, words(half));
        return;
      case 'reasoning':
        await whole(
          opening,
          ...['先想一想，', '再回答。'].map((reasoning_content) => chunk({ reasoning_content })),
          words(pieces),
          chunk({}, 'stop'),
          counted,
          done,
        );
        return;
      case 'split': {
        begin();
        response.socket?.setNoDelay(true);
        const bytes = Buffer.from(opening + words(pieces) + chunk({}, 'stop') + counted + done);
        for (const byte of bytes) {
          if (!(await put(response, Buffer.of(byte)))) return;
          await new Promise(setImmediate);
        }
        response.end();
        return;
      }
      case 'crlf':
        await whole(
          (opening + words(pieces) + chunk({}, 'stop') + counted + done).replaceAll('\n', '\r\n'),
        );
        return;
      case 'comments':
        await whole(
          ': keep-alive\n\n',
          'event: ping\n\n',
          opening,
          ': keep-alive\n\n',
          words(pieces),
          chunk({}, 'stop'),
          counted,
          done,
        );
        return;
      case 'json':
        json(response, 200, {
          ...head(request.model),
          object: 'chat.completion',
          choices: [
            { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
          ],
          usage,
        });
        return;
      case 'late':
        await sleep(500);
        json(response, 200, {
          ...head(request.model),
          object: 'chat.completion',
          choices: [
            { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 11, completion_tokens: 3000, total_tokens: 3011 },
        });
        return;
      case 'messages':
        await whole(
          words(pieces).replaceAll('"delta":', '"message":'),
          chunk({}, 'stop'),
          counted,
          done,
        );
        return;
      case 'empty':
      case 'no-room': {
        const finish = scenario === 'empty' ? 'stop' : 'length';
        if (request.stream) await whole(opening, chunk({}, finish), counted, done);
        else {
          const message = { role: 'assistant', content: '' };
          const choices = [{ index: 0, message, finish_reason: finish }];
          json(response, 200, { ...head(request.model), choices, usage });
        }
        return;
      }
      case 'length':
        await whole(opening, words(half), chunk({}, 'length'), counted, done);
        return;
      case 'content-filter':
        await whole(opening, words(half), chunk({}, 'content_filter'), counted, done);
        return;
      case '429':
        refuse(
          response,
          429,
          { type: 'requests', code: 'rate_limit_exceeded' },
          { 'retry-after': '7' },
        );
        return;
      case '429-bare':
        refuse(response, 429, { type: 'requests' });
        return;
      case '403':
        refuse(response, 403, { type: 'forbidden' });
        return;
      case 'no-model':
        refuse(response, 404, { type: 'invalid_request_error', code: 'model_not_found' });
        return;
      case 'slow':
        await sleep(1500);
        await play('normal', request, response);
        return;
      case '500':
        refuse(response, 500, { type: 'server_error', code: null });
        return;
      case '401':
        refuse(response, 401, { type: 'invalid_request_error', code: 'invalid_api_key' });
        return;
      case 'redirect':
        response.writeHead(307, { location: `${mock.baseURL}/elsewhere` }).end();
        return;
      case 'quota':
        refuse(response, 429, { type: 'insufficient_quota', code: 'insufficient_quota' });
        return;
      case 'context':
        refuse(response, 400, {
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          param: 'messages',
        });
        return;
      case 'context-llama':
        refuse(response, 400, { type: 'exceed_context_size_error', code: 400 });
        return;
      case 'html':
        response.writeHead(502, { 'content-type': 'text/html' });
        response.end('<html><h1>SECRET upstream words</h1></html>');
        return;
      case 'error-event':
        await whole(
          opening,
          words(half),
          `data: ${JSON.stringify({ error: { message: 'SECRET upstream words', code: 'server_error' } })}\n\n`,
          done,
        );
        return;
      case 'cut-before':
        await cut();
        return;
      case 'cut-first':
        begin();
        await put(response, opening);
        await cut();
        return;
      case 'cut-middle':
        begin();
        await put(response, opening + words(half));
        await cut();
        return;
      case 'cut-usage':
        begin();
        await put(response, opening + words(pieces) + chunk({}, 'stop'));
        await cut();
        return;
      case 'garbage':
        await whole('data: \u0000\u0001 this is no JSON {{{\n\n', 'data: [1,2\n\n', done);
        return;
      case 'garbage-middle':
        await whole(opening, words(half), 'data: {"choices": [\n\n', done);
        return;
      case 'hang-before':
        await left(response);
        return;
      case 'hang-first':
        begin();
        await put(response, opening);
        await left(response);
        return;
      case 'hang-middle':
        begin();
        await put(response, opening + words(half));
        await left(response);
        return;
      case 'drip': {
        begin();
        response.socket?.setNoDelay(true);
        for (const byte of Buffer.from(opening + words(pieces) + chunk({}, 'stop') + done)) {
          if (!(await put(response, Buffer.of(byte)))) return;
          await sleep(1000);
        }
        response.end();
        return;
      }
      case 'endless': {
        begin();
        const lot = chunk({ content: '没有尽头。'.repeat(40) }).repeat(20);
        while (await put(response, lot)) await new Promise(setImmediate);
        return;
      }
      case 'huge':
      case 'huge-json': {
        begin(scenario === 'huge' ? undefined : 'application/json');
        const lot = Buffer.alloc(1024 * 1024, 'x');
        let isThere = await put(
          response,
          scenario === 'huge'
            ? 'data: {"choices":[{"delta":{"content":"'
            : '{"choices":[{"message":{"content":"',
        );
        for (let at = 0; at < 1024 && isThere; at += 1) isThere = await put(response, lot);
        response.end();
        return;
      }
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://mock');
    if (url.pathname.startsWith('/__mock/log/')) {
      json(response, 200, log.get(url.pathname.slice('/__mock/log/'.length)) ?? null);
      return;
    }
    if (url.pathname === '/__mock/stat') {
      json(response, 200, {
        calls: mock.calls,
        active: mock.active,
        cpu: process.cpuUsage(),
        rss: process.memoryUsage.rss(),
      });
      return;
    }
    if (url.pathname === '/v1/models') {
      const data = mock.models.map((id) => ({ id, object: 'model', owned_by: 'mock' }));
      json(response, 200, { object: 'list', data });
      return;
    }
    if (url.pathname !== '/v1/chat/completions' || request.method !== 'POST') {
      refuse(response, 404, { type: 'invalid_request_error', code: 'unknown_url' });
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as MockRequest;
    mock.calls += 1;
    mock.bytesSent = 0;
    mock.lastRequest = body;
    mock.lastPictures = picturesOf(body);
    mock.lastAuthorization = request.headers.authorization ?? '';
    const prompt = lastQuestion(body);
    mock.active += 1;
    try {
      const queued = queue.shift();
      const [, asked, rate, id, stamp] =
        /\[\[bench tokens=(\d+) rate=(\d+(?:\.\d+)?) id=([\w-]+)( stamp=1)?\]\]/.exec(prompt) ?? [];
      const named = /\[\[mock ([\w-]+)\]\]/.exec(prompt)?.[1];
      if (queued === undefined && asked !== undefined && rate !== undefined && id !== undefined) {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.socket?.setNoDelay(true);
        await bench(response, body.model, {
          count: Number(asked),
          rate: Number(rate),
          id,
          stamp: stamp !== undefined,
        });
        return;
      }
      const scenario = queued ?? scenarios.find((name) => name === named) ?? standing;
      await play(scenario, body, response);
    } finally {
      mock.active -= 1;
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  mock.port = (server.address() as AddressInfo).port;
  mock.baseURL = `http://127.0.0.1:${mock.port}/v1`;
  return mock;
};

// On its own: npx tsx tests/support/mock-openai.ts 4010
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const mock = await startMockOpenAi(Number(process.argv[2] ?? 4010));
  console.log(`OPENAI_BASE_URL=${mock.baseURL}`);
}
