import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { bodyOf, type FakeService, listen, reply } from './fake-service.ts';

/**
 * Services that chat in words of their own, at their wire: Anthropic's `/v1/messages` and Gemini's
 * `/v1beta/models/…:generateContent`. Both are strict: a field that their documents do not have is
 * refused, as the real ones do. With tools they call the first, as long as no result of one is there.
 */

type Json = Record<string, unknown>;

export interface DialectService extends FakeService {
  /** The requests, oldest first. */
  asked: { path: string; headers: IncomingHttpHeaders; body: Json }[];
  /** The next answer instead of a good one. */
  fail: (status: number, error: Json) => void;
}

export const signature = 'EqQBCkYIARgCKkDsigned==';
/** As the service counts them: 40 of 100 were cached, 10 written to the cache. */
export const usage = {
  input_tokens: 50,
  cache_read_input_tokens: 40,
  cache_creation_input_tokens: 10,
  output_tokens: 30,
};

const known: Readonly<Record<string, readonly string[]>> = {
  request: [
    'model',
    'max_tokens',
    'messages',
    'system',
    'stream',
    'tools',
    'tool_choice',
    'thinking',
    'metadata',
    'stop_sequences',
    'temperature',
    'top_p',
    'top_k',
    'cache_control',
    'output_config',
  ],
  text: ['type', 'text', 'cache_control'],
  image: ['type', 'source', 'cache_control'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool: ['name', 'description', 'input_schema', 'strict', 'cache_control'],
};

/** What the service refuses of a request; null: nothing. */
const refusalOf = (body: Json): string | null => {
  const extra = (kind: string, value: Json): string | null => {
    const odd = Object.keys(value).find((name) => !known[kind]?.includes(name));
    return odd === undefined ? null : `${kind}.${odd}: Extra inputs are not permitted`;
  };
  const messages = body['messages'] as { role: string; content: Json[] }[];
  const blocks = messages.flatMap(({ content }) => content);
  const inner = blocks.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Json[]) : [],
  );
  const last = messages.find(({ role }, at) => role === messages[at + 1]?.role);
  const { budget_tokens: budget = 0 } = (body['thinking'] ?? {}) as { budget_tokens?: number };
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required';
  if (budget >= body['max_tokens']) return '`max_tokens` must be greater than budget_tokens';
  if (last) return 'roles must alternate';
  return (
    [
      extra('request', body),
      ...[...blocks, ...inner, ...((body['system'] ?? []) as Json[])].map((block) =>
        extra(String(block['type']), block),
      ),
      ...((body['tools'] ?? []) as Json[]).map((tool) => extra('tool', tool)),
    ].find((each) => each !== null) ?? null
  );
};

const sse = (response: ServerResponse, events: readonly Json[], named: boolean): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    response.write(
      `${named ? `event: ${String(event['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
    );
  response.end();
};

interface Block {
  start: Json;
  deltas: Json[];
  whole: Json;
}

const blocksFor = (body: Json): Block[] => {
  const said = '你好，我是克劳德。';
  const blocks: Block[] = [];
  const { type } = (body['thinking'] ?? {}) as { type?: string };
  if (type === 'enabled' || type === 'adaptive')
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: '先想' },
        { type: 'thinking_delta', thinking: '一想。' },
        { type: 'signature_delta', signature },
      ],
      whole: { type: 'thinking', thinking: '先想一想。', signature },
    });
  blocks.push({
    start: { type: 'text', text: '' },
    deltas: said.split('').map((text) => ({ type: 'text_delta', text })),
    whole: { type: 'text', text: said },
  });
  const [tool] = (body['tools'] ?? []) as { name: string }[];
  const messages = body['messages'] as { content: Json[] }[];
  const answered = messages.at(-1)?.content.some((block) => block['type'] === 'tool_result');
  if (tool && !answered) {
    const start = { type: 'tool_use', id: 'toolu_01', name: tool.name, input: {} };
    blocks.push({
      start,
      deltas: ['{"city":', '"北京"}'].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
      whole: { ...start, input: { city: '北京' } },
    });
  }
  return blocks;
};

const answerAnthropic = (response: ServerResponse, body: Json): void => {
  const blocks = blocksFor(body);
  const called = blocks.at(-1)?.start['type'] === 'tool_use';
  const stop = { stop_reason: called ? 'tool_use' : 'end_turn', stop_sequence: null };
  const head = { id: 'msg_01', type: 'message', role: 'assistant', model: body['model'] };
  if (!body['stream']) {
    reply(response, 200, { ...head, content: blocks.map(({ whole }) => whole), ...stop, usage });
    return;
  }
  sse(
    response,
    [
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      },
      { type: 'ping' },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: stop, usage: { output_tokens: usage.output_tokens } },
      { type: 'message_stop' },
    ],
    true,
  );
};

const answerGemini = (response: ServerResponse, body: Json, stream: boolean): void => {
  const [tools] = (body['tools'] ?? []) as { functionDeclarations: { name: string }[] }[];
  const contents = body['contents'] as { parts: Json[] }[];
  const answered = contents.at(-1)?.parts.some((part) => 'functionResponse' in part);
  const [tool] = tools?.functionDeclarations ?? [];
  const parts: Json[] =
    tool && !answered
      ? [
          {
            functionCall: { name: tool.name, args: { city: '北京' } },
            thoughtSignature: signature,
          },
        ]
      : [{ text: '想一想。', thought: true }, { text: '你好，' }, { text: '我是双子座。' }];
  const usageMetadata = {
    promptTokenCount: 60,
    cachedContentTokenCount: 20,
    candidatesTokenCount: 12,
    thoughtsTokenCount: 8,
    totalTokenCount: 80,
  };
  const candidate = (of: Json[], more: Json = {}) => ({
    candidates: [{ content: { role: 'model', parts: of }, index: 0, ...more }],
    usageMetadata,
  });
  if (stream)
    sse(
      response,
      parts.map((part, at) =>
        candidate([part], at === parts.length - 1 ? { finishReason: 'STOP' } : {}),
      ),
      false,
    );
  else reply(response, 200, candidate(parts, { finishReason: 'STOP' }));
};

export const startDialectService = async (): Promise<DialectService> => {
  const asked: DialectService['asked'] = [];
  let failure: { status: number; error: Json } | null = null;
  const service = await listen(async (request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET') {
      if (path.startsWith('/v1beta/'))
        reply(response, 200, {
          models: [
            {
              name: 'models/gemini-9-mock',
              supportedGenerationMethods: ['generateContent', 'countTokens'],
            },
            { name: 'models/embedding-9', supportedGenerationMethods: ['embedContent'] },
          ],
        });
      else
        reply(response, 200, {
          data: [{ type: 'model', id: 'claude-sonnet-mock' }],
          has_more: false,
        });
      return;
    }
    const body = JSON.parse((await bodyOf(request)).toString('utf8')) as Json;
    asked.push({ path, headers: request.headers, body });
    if (failure) {
      const { status, error } = failure;
      failure = null;
      reply(response, status, { type: 'error', error });
      return;
    }
    if (path.startsWith('/v1beta/')) {
      if (request.headers['x-goog-api-key'] !== 'g-key')
        reply(response, 400, {
          error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' },
        });
      else answerGemini(response, body, path.includes(':streamGenerateContent'));
      return;
    }
    if (request.headers['x-api-key'] !== 'sk-ant-test') {
      const error = { type: 'authentication_error', message: 'invalid x-api-key' };
      reply(response, 401, { type: 'error', error });
      return;
    }
    const refused = refusalOf(body);
    if (refused !== null)
      reply(response, 400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: refused },
      });
    else answerAnthropic(response, body);
  });
  return {
    ...service,
    asked,
    fail: (status, error) => {
      failure = { status, error };
    },
  };
};
