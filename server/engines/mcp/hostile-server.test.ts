import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRequests } from '#server/net/guarded-fetch.ts';
import { LoginWanted, type LoginProvider, withMcp, type McpSession } from './mcp-client.ts';

/** What a server of tools makes of us: each is one answer, or one stream. */

let asked = 0;
let streams = 0;
const ping = (id: number) => JSON.stringify({ jsonrpc: '2.0', id: `p${id}`, method: 'ping' });
const pings = (count: number) => Array.from({ length: count }, (_, id) => ping(id));
const asEvents = (messages: readonly string[]) =>
  messages.map((message) => `data: ${message}\n\n`).join('');
const old = new Map<string, ServerResponse>();

const answerTo = (path: string, { id, method }: { id?: number; method: string }): unknown => {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-03-26',
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'h', version: '1' },
    };
  const list = path === '/many' ? Array.from({ length: 3000 }, (_, at) => `t${at}`) : ['one'];
  return {
    tools: list.map((name) => ({ name, inputSchema: { type: 'object' } })),
    resources: [],
    prompts: [],
    nextCursor: `${id}`,
  };
};

const answer = (path: string, body: string, response: ServerResponse) => {
  const message = JSON.parse(body) as { id?: number; method?: string };
  const { method } = message;
  if (message.id === undefined || method === undefined) {
    response.writeHead(202).end();
    return;
  }
  const told = { code: 401, message: 'made, but the shop said 401 Unauthorized' };
  const result = JSON.stringify({
    jsonrpc: '2.0',
    id: message.id,
    ...(method === 'tools/call' && { error: told }),
    result: method === 'tools/call' ? undefined : answerTo(path, { ...message, method }),
  });
  const stream = old.get(path);
  if (stream) {
    response.writeHead(202).end();
    stream.write(asEvents([result, ...(method === 'tools/list' ? pings(150) : [])]));
    return;
  }
  const json = path === '/batch' || path === '/many';
  response.setHeader('content-type', json ? 'application/json' : 'text/event-stream');
  if (method !== 'tools/list') response.end(json ? result : asEvents([result]));
  else if (path === '/events') response.end(asEvents([...pings(20_000), result]));
  else if (path === '/some') response.write(asEvents(pings(150)));
  else if (path === '/batch') response.end(`[${[...pings(9000), result].join(',')}]`);
  else if (path === '/lines') response.end(`${'x\r'.repeat(400_000)}${asEvents([result])}`);
  else if (path === '/resume') response.end(`id: 1\nretry: 0\ndata:\n\n`);
  else response.end(json ? result : asEvents([result]));
};

const hostile = createServer((request: IncomingMessage, response) => {
  asked += 1;
  const path = request.url ?? '';
  if (request.method === 'GET') {
    streams += 1;
    response.setHeader('content-type', 'text/event-stream');
    if (path === '/older') {
      old.set(path, response);
      response.write('event: endpoint\ndata: /older\n\n');
    } else response.end('id: 1\nretry: 0\ndata:\n\n');
    return;
  }
  if (path === '/older' && !old.has(path)) {
    response.writeHead(404).end();
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => answer(path, body, response));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    hostile.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  hostile.closeAllConnections();
  hostile.close();
});
beforeEach(() => {
  [asked, streams] = [0, 0];
});

const within = <T>(
  path: string,
  use: (session: McpSession) => Promise<T>,
  auth: LoginProvider | null = null,
) =>
  withMcp(
    {
      auth,
      url: `http://127.0.0.1:${(hostile.address() as AddressInfo).port}${path}`,
      headers: {},
      requests: createRequests(null, 2_000_000),
    },
    { signal: AbortSignal.timeout(10_000), ms: 10_000 },
    use,
  );

test.each([
  ['/events', '太复杂'],
  ['/batch', '太复杂'],
  ['/lines', '太复杂'],
  ['/some', '太多'],
  ['/resume', '太多'],
])('a server that would keep us busy with %s is left', async (path, told) => {
  await expect(within(path, (mcp) => mcp.tools())).rejects.toThrow(told);
  expect(asked).toBeLessThanOrEqual(60);
});

test('one of the older way is left as well', async () => {
  await within('/older', async (mcp) => {
    await mcp.tools();
    await mcp.tools();
  }).catch((error: Error) => expect(error.message).toMatch(/太多|太复杂/));
  expect(asked).toBeLessThanOrEqual(60);
});

test('lists without an end are read as far as they are looked at; no stream is opened beside them', async () => {
  const [tools, resources, prompts] = await within('/many', async (mcp) => [
    await mcp.tools(),
    await mcp.resources(),
    await mcp.prompts(),
  ]);
  expect(tools).toHaveLength(100);
  expect([resources, prompts]).toEqual([[], []]);
  expect(streams).toBe(0);
  expect(asked).toBeLessThanOrEqual(12);
});

test('what a tool says of somebody else is no sign-in that is wanted here: it may have done something', async () => {
  const provider = {
    tokens: () => ({ access_token: 'a', token_type: 'bearer' }),
  } as unknown as LoginProvider;
  for (const auth of [null, provider]) {
    const failed: unknown = await within('/tell', (mcp) => mcp.call('one', {}), auth).catch(
      (error: unknown) => error,
    );
    expect(failed).not.toBeInstanceOf(LoginWanted);
    expect(String(failed)).toContain('the shop said');
  }
});
