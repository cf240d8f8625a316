import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { callsTools, toolsTold } from '#common/tool-models.ts';
import { estimateTokens } from '#contract/price.ts';
import { withMcp } from '#server/engines/mcp/mcp-client.ts';
import { createRequests } from '#server/net/guarded-fetch.ts';
import { createMakeFile } from '../export/make-file-tool.ts';
import { createRunCode } from '../export/run-code-tool.ts';
import { createTranslateFile } from '../export/translate-tool.ts';
import { createDraw } from '../image/draw-tool.ts';
import { createEditImage } from '../image/edit-tool.ts';
import { createSpeak } from '../speech/speak-tool.ts';
import { createMakeFilm } from '../video/film-tool.ts';
import { addressesIn } from './read-page.ts';
import { atOnce } from './tool-reach.ts';
import { createToolbox } from './toolbox.ts';

const knowledge = {
  list: () => Promise.resolve([]),
  tryOut: () => Promise.resolve([]),
  mayAsk: () => () => Promise.resolve(true),
};
const none = () => Promise.reject(new Error('nothing is drawn here'));
const deps = {
  models: {
    defaultImageModel: none,
    findImage: none,
    usable: none,
    findMedia: none,
    defaultMedia: none,
  },
  files: {
    takeImages: none,
    requireRoom: none,
    keepToolFile: none,
    openOther: none,
    attachedText: none,
    attachedBytes: none,
  },
  jobs: { cancel: none },
  signing: { sign: none },
  storage: { get: none, getPart: none, put: none, putFile: none, delete: none },
  prompts: { writer: none, ask: none },
  settings: { documentSeconds: 1, fileQuota: 1, uploadLimit: 1, workers: 1 },
};
const box = createToolbox({
  made: [
    createDraw(deps),
    createEditImage(deps),
    createMakeFilm(deps),
    createSpeak({ speech: { quote: none, say: none }, ...deps }),
    createMakeFile(deps),
    createRunCode(deps),
    createTranslateFile(deps),
  ],
  knowledge,
  fetch: () => Promise.resolve(null),
  services: { find: () => Promise.resolve(null) },
  servers: {
    offered: () => Promise.resolve([]),
    tool: () => {
      throw new Error('no server has tools here');
    },
  },
});

test('what tools cost with each question is what the page says ahead', () => {
  for (const [web, only] of [
    [false, false],
    [true, false],
    [true, true],
  ] as const) {
    const names = box.offered({ tools: true, builtIn: false }, { web, only });
    const told = estimateTokens(JSON.stringify(box.specs(names)));
    expect(Math.abs(told - toolsTold(!only, web)) / told, String(told)).toBeLessThan(0.1);
  }
});

test('models are known by their names, with the names of services before them', () => {
  for (const name of [
    'gpt-4o-mini',
    'deepseek-reasoner',
    'Qwen/Qwen3-32B',
    'glm-4.5',
    'claude-3-opus',
  ])
    expect(callsTools(name), name).toBe(true);
  for (const name of ['mock-chat', 'gpt-4-vision-preview', 'llama2', 'qwen-mt-plus'])
    expect(callsTools(name), name).toBe(false);
});

test('addresses end where a sentence goes on', () => {
  expect(
    addressesIn('看 https://a.example/b?c=1。还有http://d.example，（https://e.example/f）'),
  ).toEqual(['https://a.example/b?c=1', 'http://d.example/', 'https://e.example/f']);
});

test('a hostile server of tools holds nobody, and what it says can be kept', async () => {
  const hostile = createServer((request, response) => {
    const send = (of: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(of));
    void (async () => {
      if (request.method === 'GET') {
        // A stream that never says where its messages go.
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n');
        return;
      }
      const { id, method } = JSON.parse(await textOf(request)) as { id?: number; method: string };
      if (request.url === '/silent') response.writeHead(405).end();
      else if (id === undefined) {
        if (request.url !== '/hanging') response.writeHead(202).end();
      } else if (method === 'initialize')
        send({
          jsonrpc: '2.0',
          id,
          result: {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'hostile', version: '1' },
          },
        });
      else {
        if (request.url !== '/tools') {
          const long = ['/deep', '/parts', '/events', '/lines'].indexOf(request.url ?? '');
          const deep = (by: number) => `${'['.repeat(by)}${']'.repeat(by)}`;
          const meta = [
            deep(70),
            `[${'0,'.repeat(60_000)}0]`,
            deep(70),
            `\ndata:${deep(70)}\ndata:`,
          ];
          const body = `{"jsonrpc":"2.0","id":${id},"result":{"tools":[],"_meta":{"a":${meta[long] ?? `"${'长'.repeat(400_000)}"`}}}}`;
          const isEvents = long > 1;
          response.setHeader('content-type', isEvents ? 'text/event-stream' : 'application/json');
          // Nothing that is no data hides how deep the data is.
          response.end(isEvents ? `: "]]]\r\nevent: message\r\ndata:${body}\n\n` : body);
          return;
        }
        const inputSchema = { type: 'object', properties: { 'x\0': { description: '\uD800' } } };
        const tool = { name: 'a\0', description: '\uD800', inputSchema };
        const other = { ...tool, description: '另一个同名的' };
        send({ jsonrpc: '2.0', id, result: { tools: [tool, other] } });
      }
    })();
  });
  await new Promise<void>((resolve) => {
    hostile.listen(0, '127.0.0.1', resolve);
  });
  const { port } = hostile.address() as AddressInfo;
  const requests = createRequests(null, 2_000_000);
  const ask = (path: string, ms: number) =>
    withMcp(
      { url: `http://127.0.0.1:${port}${path}`, headers: {}, requests },
      { signal: AbortSignal.timeout(ms), ms },
      (mcp) => mcp.tools(),
    );
  try {
    for (const path of ['/silent', '/hanging'])
      await expect(ask(path, 500), path).rejects.toThrow('等了太久');
    for (const path of ['/deep', '/parts', '/events', '/lines'])
      await expect(ask(path, 10_000), path).rejects.toThrow('太复杂');
    await expect(ask('/long', 10_000)).rejects.toThrow('太长');
    expect(await ask('/tools', 10_000)).toEqual([
      {
        name: 'a\uFFFD',
        description: '\uFFFD',
        parameters: { type: 'object', properties: { 'x\uFFFD': { description: '\uFFFD' } } },
      },
    ]);
  } finally {
    hostile.closeAllConnections();
    hostile.close();
  }
});

test('programs of one person that hang leave places to others', async () => {
  const program = { url: 'stdio:slow' };
  let end = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    end = resolve;
  });
  const all = Array.from({ length: 6 }, () =>
    atOnce(program, { person: '1', guest: false }, () => hanging),
  );
  const other = atOnce(program, { person: '2', guest: false }, () => Promise.resolve('said'));
  expect(await other).toBe('said');
  end();
  await Promise.all(all);
});
