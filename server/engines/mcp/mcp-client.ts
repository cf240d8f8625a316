import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Forbidden, type Requests } from '#server/net/guarded-fetch.ts';
import { storable, storableText } from '#server/storable.ts';
import { createAnswerWatch, TooMuch } from './answer-bounds.ts';
import {
  fillPrompt,
  promptsOf,
  readResource,
  resourcesOf,
  templatesOf,
  type McpContent,
  type McpPrompt,
  type McpResource,
  type McpTemplate,
} from './mcp-things.ts';
import { type Answering, createQuestions, type Questions } from './mcp-questions.ts';

/** A program on this machine that is one. */
export interface McpProgram {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** What the SDK is told of a sign-in, and tells. */
export interface LoginProvider extends OAuthClientProvider {
  /** What was allowed is not enough: no renewal helps. */
  wantMore?: () => void;
}

/** How a server of tools is reached. */
export interface McpAddress {
  url: string;
  headers: Record<string, string>;
  requests: Requests;
  /** What a sign-in there gave. */
  auth?: LoginProvider | null;
  /** It is no address but runs here. */
  program?: McpProgram;
}

export interface McpTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments, of an object. */
  parameters: Record<string, unknown>;
}

/** The message is for people. */
export class McpError extends Error {}

/** Whoever asks has to sign in there first. */
export class LoginWanted extends McpError {
  constructor() {
    super('它要先授权：按“授权”，到它那里登录');
  }
}

/** A sign-in that stood there stands no more. */
const isRefusedLogin = (error: unknown): boolean =>
  ['invalid_grant', 'invalid_client', 'invalid_token', 'unauthorized_client'].includes(
    String((error as { errorCode?: unknown }).errorCode),
  );

interface Limits {
  signal: AbortSignal;
  ms: number;
  answering?: Answering | undefined;
}

/** What of a list is looked at. */
const most = { pages: 5, tools: 100, name: 100, description: 2000, schema: 20_000 };
const connectMs = 15_000;
/** What we ask of a server in one session, with whatever it makes us ask and answer. */
const mostRequests = 60;

const clientInfo = { name: 'queqiao', version: '1.0.0' };

/** It answered that it does not know who asks. */
const isUnknown = (error: unknown): boolean => {
  const {
    code,
    name = '',
    message = '',
  } = error as {
    code?: unknown;
    name?: string;
    message?: string;
  };
  return code === 401 || name === 'UnauthorizedError' || /\b401\b|Unauthorized/.test(message);
};

const reasonOf = (error: unknown): string => {
  const {
    code,
    cause,
    message = '',
  } = error as {
    code?: unknown;
    cause?: { code?: unknown };
    message?: string;
  };
  if (/dynamic client registration/.test(message))
    return '它不让应用自己登记：请到它那里登记一个，再在“高级”里填写应用编号';
  if (code === 401 || code === 403 || /\b40[13]\b|Unauthorized/.test(message))
    return '它没有接受令牌，请检查';
  if (typeof code === 'number' && code >= 400) return `它回答 ${code}，请检查地址`;
  const told = cause?.code ?? code;
  const line = typeof told === 'string' ? told : '';
  if (line === 'ENOENT' || line === 'EACCES') return '程序启动不了，请检查 mcp.json 里的 command';
  if (/^E[A-Z]+|UND_ERR/.test(line) || /fetch failed/.test(message))
    return '连不上：没有回应，或不是公网上的地址';
  if (error instanceof Forbidden && error.message === 'size') return '它的回答太长';
  if (error instanceof Forbidden)
    return '连不上：自己的服务，和大家的服务引向的别处，要是公网上的地址，端口 80 或 443';
  // The client's own word for an answer that did not come.
  if (code === -32001) return '等了太久，它没有回应';
  if (/redirect/i.test(message)) return '它把请求转到了别处，请填写转到的地址';
  return '它的回答读不懂，请检查地址是不是 MCP 服务';
};

/** Events are wanted, and not the rest of those that an answer began with. */
const isEventsAlone = ({ headers }: RequestInit): boolean => {
  const of = new Headers(headers);
  return of.get('accept') === 'text/event-stream' && !of.has('last-event-id');
};

/**
 * Requests of one session, some and no more, whose answers are looked at as they come; `stop` hears
 * of what is too much, `onShort` of an answer that wants more than was allowed.
 */
const watched = (
  requests: Requests,
  stop: (why: TooMuch) => void,
  onShort?: () => void,
): Requests => {
  let asked = 0;
  return async (url, init) => {
    asked += 1;
    if (asked > mostRequests) {
      const why = new TooMuch('它要的回应太多');
      stop(why);
      throw why;
    }
    const answer = await requests(url, init);
    const { body, status, statusText, headers } = answer;
    if (status === 403 && /insufficient_scope/.test(headers.get('www-authenticate') ?? ''))
      onShort?.();
    if (!body) return answer;
    const look = createAnswerWatch(/^text\/event-stream/i.test(headers.get('content-type') ?? ''));
    const through = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        try {
          look(piece);
          controller.enqueue(piece);
        } catch (error) {
          controller.error(error);
          if (error instanceof TooMuch) stop(error);
        }
      },
    });
    return new Response(body.pipeThrough(through), { status, statusText, headers });
  };
};

/**
 * A stream beside the answers brings nothing that is waited for but questions, for which it is opened
 * so often; the client would open it anew without end. Whoever has none, for whatever reason, has none.
 */
const withOpenStreams = (requests: Requests, most: number): Requests => {
  let opened = 0;
  return async (url, init) => {
    if (init?.method !== 'GET' || !isEventsAlone(init)) return requests(url, init);
    opened += 1;
    const answer = opened > most ? null : await requests(url, init);
    if (answer?.ok) return answer;
    await answer?.body?.cancel();
    return new Response(null, { status: 405 });
  };
};

const tooLate = (signal: AbortSignal, otherwise: string): McpError =>
  new McpError(signal.reason instanceof TooMuch ? signal.reason.message : otherwise);

/** Rejects with the signal: what the client itself waits for without an end is left behind then. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = (): void => reject(tooLate(signal, '等了太久，它没有回应'));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });

/** A program of the operator's, with no more of this process's surroundings than it needs. */
const programWay = async ({ command, args, env }: McpProgram): Promise<() => Transport> => {
  const { StdioClientTransport, getDefaultEnvironment } =
    await import('@modelcontextprotocol/sdk/client/stdio.js');
  return () =>
    new StdioClientTransport({
      command,
      args,
      env: { ...getDefaultEnvironment(), ...env },
      stderr: 'ignore',
    });
};

/** Streamable HTTP where it is spoken, else the older way with events. @throws McpError */
const connect = async (
  address: McpAddress,
  signal: AbortSignal,
  questions: Questions,
): Promise<Client> => {
  const [{ Client: Made }, { StreamableHTTPClientTransport }, { SSEClientTransport }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/client/sse.js'),
    ]);
  const url = new URL(address.program ? 'http://program.invalid' : address.url);
  const { auth, headers } = address;
  const options = {
    fetch: address.requests,
    requestInit: { headers },
    ...(auth && { authProvider: auth }),
  };
  const retry = { initialReconnectionDelay: 1000, maxReconnectionDelay: 1000 };
  const overHttp: (() => Transport)[] = [
    () =>
      new StreamableHTTPClientTransport(url, {
        ...options,
        fetch: withOpenStreams(address.requests, questions.streams),
        reconnectionOptions: { ...retry, reconnectionDelayGrowFactor: 1, maxRetries: 3 },
      }),
    () => new SSEClientTransport(url, options),
  ];
  const ways = address.program ? [await programWay(address.program)] : overHttp;
  let first: unknown;
  for (const way of ways) {
    // No server may ask our models or files for anything, and a person by a form alone.
    const client = new Made(clientInfo, { capabilities: questions.capabilities });
    client.fallbackRequestHandler = questions.answer;
    try {
      // Its limit of time is for one question: not for a stream that never begins to speak.
      await orAborted(
        client.connect(questions.watch(way()), { signal, timeout: connectMs }),
        signal,
      );
      return client;
    } catch (error) {
      await client.close().catch(() => undefined);
      if (signal.aborted) throw tooLate(signal, '等了太久，它没有回应');
      if (error instanceof McpError) throw error;
      first ??= error;
      const { code } = error as { code?: unknown };
      if (code !== 400 && code !== 404 && code !== 405) break;
    }
  }
  // Who brought a token of their own has to bring another one.
  if (isUnknown(first) && Object.keys(headers).length === 0) throw new LoginWanted();
  if (isRefusedLogin(first)) throw new LoginWanted();
  throw new McpError(reasonOf(first));
};

const toolsOf = async (client: Client, signal: AbortSignal): Promise<McpTool[]> => {
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < most.pages && tools.length < most.tools; page += 1) {
    // Asked for without the client's help, which would compile each schema that it is given.
    const answer = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      ListToolsResultSchema,
      { signal, timeout: connectMs },
    );
    for (const { name, description = '', inputSchema } of answer.tools)
      // Of two of one name the first is meant wherever it is called.
      if (
        tools.length < most.tools &&
        name.length <= most.name &&
        !tools.some((known) => known.name === storableText(name)) &&
        JSON.stringify(inputSchema).length <= most.schema
      )
        tools.push(
          storable({
            name,
            description: description.slice(0, most.description),
            parameters: { ...inputSchema, type: 'object' },
          }),
        );
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
};

interface Piece {
  type: string;
  text?: unknown;
  name?: unknown;
  uri?: unknown;
  resource?: { text?: unknown; uri?: unknown };
}

const textOfPiece = (piece: Piece): string => {
  if (piece.type === 'text') return String(piece.text);
  if (piece.type === 'image') return '（一张图片，这里看不到）';
  if (piece.type === 'audio') return '（一段声音，这里听不到）';
  const { text, uri } = piece.resource ?? {};
  return typeof text === 'string' ? text : `（资源：${String(uri ?? piece.uri ?? piece.name)}）`;
};

const callOf = async (
  client: Client,
  name: string,
  given: Record<string, unknown>,
  { signal, ms }: { signal: AbortSignal; ms: number },
): Promise<string> => {
  const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const answer = await client.request(
    { method: 'tools/call', params: { name, arguments: given } },
    CallToolResultSchema,
    { signal, timeout: ms },
  );
  const text = answer.content.map((piece) => textOfPiece(piece as Piece)).join('\n');
  const said =
    text === '' && answer.structuredContent ? JSON.stringify(answer.structuredContent) : text;
  if (answer.isError) throw new McpError(storableText(said.slice(0, 2000)) || '它说没有做成');
  return storableText(said);
};

export interface McpSession {
  /** What it offers now. */
  tools: () => Promise<McpTool[]>;
  /** Runs one of its tools; gives what it says as text. */
  call: (name: string, given: Record<string, unknown>) => Promise<string>;
  /** What it has beside tools: to be read, and to be asked with. */
  resources: () => Promise<McpResource[]>;
  templates: () => Promise<McpTemplate[]>;
  read: (uri: string) => Promise<McpContent | null>;
  prompts: () => Promise<McpPrompt[]>;
  fill: (name: string, given: Record<string, string>) => Promise<string>;
}

/** Connects to a server for as long as `use` takes. @throws McpError */
export const withMcp = async <T>(
  address: McpAddress,
  { signal, ms, answering }: Limits,
  use: (session: McpSession) => Promise<T>,
): Promise<T> => {
  const stopped = new AbortController();
  const until = AbortSignal.any([signal, AbortSignal.timeout(ms), stopped.signal]);
  const requests = watched(
    address.requests,
    (why) => stopped.abort(why),
    () => address.auth?.wantMore?.(),
  );
  const questions = createQuestions(answering, (why) => stopped.abort(why));
  const client = await connect({ ...address, requests }, until, questions);
  const bounds = { signal: until, ms };
  try {
    return await use({
      tools: () => toolsOf(client, until),
      call: (name, given) => callOf(client, name, given, bounds),
      resources: () => resourcesOf(client, bounds),
      templates: () => templatesOf(client, bounds),
      read: (uri) => readResource(client, uri, bounds),
      prompts: () => promptsOf(client, bounds),
      fill: (name, given) => fillPrompt(client, name, given, bounds),
    });
  } catch (error) {
    await questions.end();
    if (error instanceof McpError) throw error;
    if (until.aborted) throw tooLate(until, '等了太久，它没有给出结果');
    const { message } = error as Error;
    // What the server itself says of a call, which may have done something: no sign-in makes it undone.
    if (/^MCP error -?\d+/.test(message)) throw new McpError(storableText(message.slice(0, 500)));
    if (address.auth && (isUnknown(error) || isRefusedLogin(error))) throw new LoginWanted();
    // Some let anybody connect, and ask who it is when it comes to their tools.
    const bare = !address.program && Object.keys(address.headers).length === 0;
    if (bare && (error as { code?: unknown }).code === 401) throw new LoginWanted();
    throw new McpError(reasonOf(error));
  } finally {
    await client.close().catch(() => undefined);
  }
};

/** Talks to the server where one signs in for as long as it may. @throws McpError `otherwise` by what went wrong */
const signIn = async (
  { url, requests, auth: provider }: McpAddress,
  authorizationCode: string | undefined,
  ms: number,
  otherwise: (error: unknown) => string,
): Promise<void> => {
  const { auth } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const stopped = new AbortController();
  const until = AbortSignal.any([AbortSignal.timeout(ms), stopped.signal]);
  const bounded = watched(
    (to, init) => requests(to, { ...init, signal: until }),
    (why) => stopped.abort(why),
  );
  try {
    const fetchFn = bounded as Parameters<typeof auth>[1]['fetchFn'];
    await auth(provider!, {
      serverUrl: url,
      ...(authorizationCode !== undefined && { authorizationCode }),
      ...(fetchFn && { fetchFn }),
    });
  } catch (error) {
    if (error instanceof McpError) throw error;
    if (until.aborted) throw tooLate(until, '等了太久，它没有回应');
    throw new McpError(otherwise(error));
  }
};

/** Asks a server that did not ask by itself where one signs in, which its provider is told. @throws McpError */
export const askLogin = (address: McpAddress, ms: number): Promise<void> =>
  signIn(address, undefined, ms, reasonOf);

/**
 * Takes what a sign-in gave to whoever comes back from it, at the server that it was begun with.
 * @throws McpError
 */
export const endLogin = (address: McpAddress, code: string, ms: number): Promise<void> =>
  signIn(address, code, ms, () => '授权没有成功，它没有给出令牌，请再授权一次');
