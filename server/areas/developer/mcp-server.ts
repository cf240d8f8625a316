import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { originOf } from '#server/http/origin.ts';
import { statusOf } from '#server/http/failure.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createAddressLimit } from '#server/http/rate-limit.ts';
import type { ApiCaller } from '#server/http/open-handlers.ts';
import { bearerOf } from '#server/http/caller.ts';
import type { Gate } from './key-limits.ts';
import { allowCall } from '../compliance/allow.ts';
import { textOf, texts, type Tool, ToolFailure } from '../tool/tool.ts';

/**
 * This server's own tools for programs that speak MCP (streamable HTTP without sessions), by an API
 * key. What costs is asked of /v1 with the same key, so that its limits, its models, the money and
 * the log are the same there and here.
 */

interface Deps {
  db: Database;
  gate: Gate;
  search: Tool;
  version: string;
  publicUrl: string;
  /** Requests a minute and address that carry no valid key. */
  addressLimit: number;
}

type Given = Record<string, unknown>;

/** Asks /v1 as the same program; gives what it answers. @throws ToolFailure */
type AskV1 = (method: 'GET' | 'POST', path: string, payload?: Given) => Promise<Given>;

interface OwnTool {
  name: string;
  description: string;
  inputSchema: { type: 'object' } & Given;
  /** It changes nothing here. */
  readOnly: boolean;
  /** It reads what the key's owner has here: a key for certain models is for nothing else. */
  reads?: true;
  run: (given: Given, ask: AskV1, by: Asking) => Promise<string>;
}

/** Who asks now. */
interface Asking {
  caller: ApiCaller;
  /** Counts this request among those of the key; once is enough. @throws Refusal too_many */
  count: () => Promise<void>;
}

const maxBody = 256 * 1024;
const searchSeconds = 15;

const schema = (fields: Record<string, string>, optional: Record<string, string> = {}) => ({
  ...texts({ ...fields, ...optional }),
  required: Object.keys(fields),
  type: 'object' as const,
});

const optionalText = (given: Given, name: string): Given =>
  given[name] === undefined || given[name] === '' ? {} : { [name]: textOf(given, name, 200) };

const toolsOf = ({ db, search }: Deps): OwnTool[] => [
  {
    name: 'list_models',
    description: '这个 API-KEY 能用的模型',
    inputSchema: schema({}),
    readOnly: true,
    run: async (_given, ask) => {
      const { data } = await ask('GET', '/v1/models');
      return (data as { id: string }[]).map(({ id }) => id).join('\n');
    },
  },
  {
    name: 'ask_model',
    description: '向一个模型提问，得到它的回答；按这个 API-KEY 的价格扣费',
    inputSchema: schema(
      { question: '问题', model: '模型名，见 list_models' },
      { system: '先告诉模型的话' },
    ),
    readOnly: true,
    run: async (given, ask) => {
      const system = given['system'] ? textOf(given, 'system', 20_000) : null;
      const { choices } = await ask('POST', '/v1/chat/completions', {
        model: textOf(given, 'model', 100),
        messages: [
          ...(system === null ? [] : [{ role: 'system', content: system }]),
          { role: 'user', content: textOf(given, 'question', 200_000) },
        ],
      });
      const [choice] = choices as { message: { content: string | null } }[];
      return choice?.message.content ?? '';
    },
  },
  {
    name: 'draw',
    description: '画一张图，给出它的地址；按这个 API-KEY 的价格扣费',
    inputSchema: schema({ prompt: '画面' }, { model: '图片模型名', size: '例如 1024x1024' }),
    readOnly: false,
    run: async (given, ask) => {
      const { data } = await ask('POST', '/v1/images/generations', {
        prompt: textOf(given, 'prompt', 4000),
        n: 1,
        response_format: 'url',
        ...optionalText(given, 'model'),
        ...optionalText(given, 'size'),
      });
      return (data as { url?: string }[]).map(({ url = '' }) => url).join('\n');
    },
  },
  {
    name: 'search',
    description: '查找 API-KEY 主人自己的会话与知识库，以及论坛与帮助',
    inputSchema: schema({ query: '要找的词，以空格分开' }),
    readOnly: true,
    reads: true,
    run: async (given, _ask, { caller, count }) => {
      await count();
      const found = await search.run(given, {
        db,
        user: { id: caller.user.id, guest: false, person: caller.user.person },
        sessionId: 0,
        historyId: 0,
        round: 0,
        trusted: new Set(),
        key: '',
        signal: AbortSignal.timeout(searchSeconds * 1000),
      });
      return found.text;
    },
  },
];

/** Asks /v1 within this process, as the request's own program from its own address. */
const askFrom =
  (http: FastifyInstance, request: FastifyRequest, signal: AbortSignal): AskV1 =>
  async (method, path, payload) => {
    const answer = await http.inject({
      method,
      url: path,
      headers: {
        authorization: request.headers.authorization,
        ...(request.headers.host ? { host: request.headers.host } : {}),
      },
      remoteAddress: request.ip,
      ...(payload ? { payload } : {}),
      signal,
    });
    const told = answer.json<Given>();
    if (answer.statusCode === 200) return told;
    const { message } = (told['error'] ?? told) as { message?: string };
    throw new ToolFailure(message ?? `没有成功（${answer.statusCode}）`);
  };

const makeServer = async (tools: readonly OwnTool[], version: string) => {
  const [{ Server }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return (request: FastifyRequest, ask: AskV1, by: Asking) => {
    const limited = by.caller.models.length > 0;
    const offered = tools.filter(({ reads }) => !(reads && limited));
    const server = new Server({ name: 'queqiao', version }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: offered.map(({ name, description, inputSchema, readOnly }) => ({
        name,
        description,
        inputSchema,
        annotations: { readOnlyHint: readOnly, openWorldHint: false },
      })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const text = (said: string, isError = false) => ({
        content: [{ type: 'text' as const, text: said }],
        ...(isError ? { isError } : {}),
      });
      const tool = offered.find(({ name }) => name === params.name);
      if (!tool) return text(`没有工具 ${params.name.slice(0, 100)}`, true);
      try {
        return text(await tool.run(params.arguments ?? {}, ask, by));
      } catch (error) {
        if (error instanceof ToolFailure || error instanceof Refusal)
          return text(error.message, true);
        request.log.error({ err: error, tool: tool.name }, 'a tool of /mcp broke');
        return text('出错了，请稍后重试', true);
      }
    });
    return server;
  };
};

/**
 * A page that asks has to be of this site or of this machine. A name that a request came by may have
 * been led here (DNS rebinding): only PUBLIC_URL, or an address, is this site's own. Programs that are
 * no pages say no origin.
 */
const isOwnOrigin = (request: FastifyRequest, publicUrl: string): boolean => {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  if (publicUrl !== '' && origin === new URL(publicUrl).origin) return true;
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '');
  if (['localhost', '127.0.0.1', '::1'].includes(host)) return true;
  return isIP(host) > 0 && origin === originOf(request, '');
};

/** Serves `/mcp`. */
export const serveMcp = (http: FastifyInstance, deps: Deps): void => {
  const limitAddress = createAddressLimit(deps.addressLimit, 'calls of /mcp without a key');
  const tools = toolsOf(deps);
  let made: ReturnType<typeof makeServer> | null = null;

  const failed = (status: number, message: string) => ({
    status,
    body: { jsonrpc: '2.0', error: { code: -32_000, message }, id: null },
  });

  /** @returns who asks. @throws Refusal */
  const enter = async (request: FastifyRequest) => {
    try {
      return await deps.gate.enter(bearerOf(request) ?? '', request.ip);
    } catch (error) {
      if (error instanceof Refusal && error.codeName === 'unauthorized')
        await limitAddress(request.ip);
      throw error;
    }
  };

  /** Answers one message. @throws Refusal */
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = await enter(request);
    let counted = false;
    const count = async (): Promise<void> => {
      if (counted) return;
      // Of a minor's account nothing is done by a key, nor read.
      const asked = { call: 'mcp', input: {}, byKey: true, device: null };
      await allowCall(deps.db, caller.user, asked);
      await deps.gate.count(caller);
      counted = true;
    };
    // What is asked of /v1 is counted there.
    if ((request.body as { method?: unknown } | null)?.method !== 'tools/call') await count();
    if (Array.isArray(request.body)) {
      const { status, body } = failed(400, '一次请求里只能有一条消息');
      return reply.code(status).send(body);
    }
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const within = askFrom(http, request, gone.signal);
    const ask: AskV1 = (...given) => {
      counted = true;
      return within(...given);
    };
    const { WebStandardStreamableHTTPServerTransport: Transport } =
      await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
    const make = await (made ??= makeServer(tools, deps.version));
    const server = make(request, ask, { caller, count });
    const transport = new Transport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const headers = new Headers();
      for (const [name, value] of Object.entries(request.headers))
        if (typeof value === 'string') headers.set(name, value);
      const said = await transport.handleRequest(
        new Request('http://localhost/mcp', { method: 'POST', headers }),
        { parsedBody: request.body },
      );
      const text = await said.text();
      // A call of nothing, or with a bad input, came no further than here.
      await count();
      const type = said.headers.get('content-type');
      if (type) reply.header('content-type', type);
      return await reply.code(said.status).send(text);
    } finally {
      await server.close();
    }
  };

  http.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    // There are no sessions to be listened to or ended.
    handler: (_request, reply) => reply.code(405).header('allow', 'POST').send(),
  });
  http.route({
    method: 'POST',
    url: '/mcp',
    bodyLimit: maxBody,
    handler: async (request, reply) => {
      try {
        if (!isOwnOrigin(request, deps.publicUrl)) {
          const { status, body } = failed(403, '别的网站上的页面不能用');
          return await reply.code(status).send(body);
        }
        return await answer(request, reply);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { status, body } = failed(statusOf(error), error.message);
        if (status === 401) reply.header('www-authenticate', 'Bearer');
        return reply.code(status).send(body);
      }
    },
  });
};
