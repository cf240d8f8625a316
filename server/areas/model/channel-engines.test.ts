import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { usualSilence } from '#server/engines/silence.ts';
import { createGuardedFetch } from '#server/net/guarded-fetch.ts';
import { createChannelEngines } from './channel-engines.ts';
import type { ChannelRow } from './model.store.ts';

let server: Server;
let baseUrl = '';
let told: string[] = [];

beforeAll(async () => {
  // Refuses all: what it was asked with is the question.
  server = createServer((request, response) => {
    told.push(request.headers.authorization ?? '');
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => server.close());

const channel = (id: number) =>
  ({
    id,
    key: `c${id}`,
    kind: 'openai-compatible',
    baseUrl,
    keyEncrypted: Buffer.from('x'),
    options: {},
  }) as ChannelRow;

test('each key of a service has a way to chat, and in everything else keys take turns', async () => {
  const engines = createChannelEngines({
    keys: { open: () => 'sk-one\nsk-two\n', seal: () => Buffer.alloc(0) },
    fetch: createGuardedFetch({ allowed: ['127.0.0.1'] }),
    filmPollMs: 10,
    silence: usualSilence,
    log: { error: () => undefined },
  })(channel(1));
  if (!engines) throw new Error('the channel has no engines');
  const signal = AbortSignal.timeout(10_000);
  const image = await import('sharp').then(({ default: sharp }) =>
    sharp({ create: { width: 64, height: 64, channels: 3, background: '#fff' } })
      .png()
      .toBuffer(),
  );
  const remembered: unknown[] = [];
  let chatTurn = 0;
  let relayTurn = 0;
  expect(engines.keys.map(({ hint }) => hint)).toEqual(['••••', '••••']);
  const works: Record<string, () => Promise<unknown> | undefined> = {
    chat: () =>
      engines.chat?.[chatTurn++ % 2]?.write(
        {
          model: 'm',
          messages: [],
          temperature: 1,
          presencePenalty: 0,
          frequencyPenalty: 0,
          signal,
        },
        () => undefined,
      ),
    relay: () => engines.relay?.[relayTurn++ % 2]?.complete({ model: 'm', messages: [] }, signal),
    speak: () =>
      engines.speak?.speak({ model: 'tts-1', text: '你好', voice: 'alloy', speed: 1 }, signal),
    hear: () => engines.hear?.hear({ model: 'whisper-1', data: image, mime: 'audio/wav' }, signal),
    video: () =>
      engines.video?.run(
        {
          model: 'sora-2',
          prompt: '海',
          base: image,
          width: 64,
          height: 64,
          cfgScale: 1,
          motion: 1,
          seed: 1,
          marked: false,
        },
        {
          signal,
          sent: () => () => {},
          progress: () => undefined,
          remember: async (remote) => void remembered.push(remote),
          resume: null,
        },
      ),
  };
  for (const [name, work] of Object.entries(works)) {
    told = [];
    for (const _ of [1, 2]) await work()?.catch(() => undefined);
    expect([...new Set(told)].sort(), name).toEqual(['Bearer sk-one', 'Bearer sk-two']);
  }
});
