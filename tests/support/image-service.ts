import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';

/** What the service was asked for. */
export interface Asked {
  prompt: string;
  n: number;
  /** `performance.now()` when it arrived. */
  at: number;
}

/** How it answers; the default is to give what was asked for. */
export type Behaviour = (
  asked: Asked,
  give: (count: number) => Promise<{ b64_json: string }[]>,
  response: ServerResponse,
) => Promise<void>;

export interface ImageServiceFake {
  baseURL: string;
  asked: Asked[];
  /** When it last gave what was asked for, as `at`. */
  gaveAt: number;
  /** Requests that their client gave up. */
  dropped: number;
  behave: (behaviour: Behaviour) => void;
  close: () => Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
};

export const sendJson = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

const usual: Behaviour = async ({ n }, give, response) =>
  sendJson(response, 200, { created: 1, data: await give(n) });

/**
 * A service that speaks OpenAI's image generations (https://platform.openai.com/docs/api-reference/images)
 * and does with each request what the test wants.
 * @param side width and height of its pictures, pixels
 */
export const startImageService = async (side = 64): Promise<ImageServiceFake> => {
  let behaviour = usual;
  const picture = await sharp({
    create: { width: side, height: side, channels: 3, background: '#2563eb' },
  })
    .png()
    .toBuffer();
  const give = (count: number) =>
    Promise.resolve(
      Array.from({ length: count }, () => ({ b64_json: picture.toString('base64') })),
    );
  const fake: ImageServiceFake = {
    baseURL: '',
    asked: [],
    gaveAt: 0,
    dropped: 0,
    behave: (next) => (behaviour = next),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableEnded) fake.dropped += 1;
    });
    const serve = async () => {
      if (request.method !== 'POST') return sendJson(response, 404, { error: { message: 'no' } });
      const body = await bodyOf(request);
      const asked = {
        prompt: String(body['prompt']),
        n: Number(body['n'] ?? 1),
        at: performance.now(),
      };
      fake.asked.push(asked);
      await behaviour(asked, give, response);
      fake.gaveAt = performance.now();
    };
    serve().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  fake.baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return fake;
};

export const behaveAsUsual = usual;

/** A service that takes its time until what this gives is called. */
export const holdBack = (service: ImageServiceFake): (() => void) => {
  let letGo: () => void = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  service.behave(async ({ n }, give, response) => {
    await free;
    if (!response.destroyed) sendJson(response, 200, { data: await give(n) });
  });
  return letGo;
};
