import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { relayEmbeddings } from './embedding-relay.ts';
import { gramVector } from './built-in-embedding.ts';

test('who asks for base64 gets it from a service that knows numbers alone', async () => {
  const service = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: [{ index: 0, embedding: [0.5, -1] }] }));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  try {
    const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`;
    const relay = async (encoding: string) => {
      const asked = { model: 'm', input: 'a', encoding_format: encoding };
      const answer = await relayEmbeddings(
        { baseUrl, apiKey: '' },
        asked,
        AbortSignal.timeout(5000),
      );
      return (answer['data'] as { embedding: unknown }[])[0]?.embedding;
    };
    const bytes = Buffer.from(String(await relay('base64')), 'base64');
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([0.5, -1]);
    expect(await relay('float')).toEqual([0.5, -1]);
  } finally {
    service.close();
  }
});

test('of a text whose letters stand for eighteen each, no more is read than of any other', () => {
  const most = '\uFDFA'.repeat(5_000);
  expect(gramVector(`${most}鹊桥相会`)).toEqual(gramVector(most));
  expect(gramVector(`${'\uFDFA'.repeat(100)}鹊桥相会`)).not.toEqual(gramVector(most));
});
