import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ImageEngineError } from './image-engine.ts';
import { ask, type Patience } from './image-wire.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const serve = async (answer: (response: ServerResponse) => void): Promise<URL> => {
  const made = createServer((_, response) => answer(response));
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return new URL(`http://127.0.0.1:${(made.address() as AddressInfo).port}/`);
};

/** Times of undici are kept to half a second or so: what is short here is short enough. */
const patience: Patience = { firstByteMs: 300, idleMs: 300, totalMs: 60_000 };
const signal = () => AbortSignal.timeout(20_000);

const failure = async (url: URL, more: { patience?: Patience; maxBytes?: number } = {}) => {
  const error = await ask(url, { signal: signal(), patience, ...more }).catch(
    (why: unknown) => why,
  );
  expect(error).toBeInstanceOf(ImageEngineError);
  return (error as ImageEngineError).codeName;
};

test('a service that says nothing, stops speaking or never ends is given up', async () => {
  expect(await failure(await serve(() => {}))).toBe('engine_timeout');
  const silent = await serve((response) => {
    response.writeHead(200);
    response.write('[');
  });
  expect(await failure(silent)).toBe('engine_timeout');
  const endless = await serve((response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  const total = { ...patience, idleMs: 10_000, totalMs: 500 };
  expect(await failure(endless, { patience: total })).toBe('engine_timeout');
}, 20_000);

test('an answer without end is cut off, and a break is a failure', async () => {
  const flood = await serve((response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  expect(await failure(flood, { maxBytes: 1_000_000 })).toBe('engine_failed');
  const broken = await serve((response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{');
    setTimeout(() => response.destroy(), 20);
  });
  expect(await failure(broken)).toBe('engine_failed');
});

test('who gives up gets the own reason, and no redirect is followed', async () => {
  const stop = new AbortController();
  const url = await serve(() => stop.abort(new Error('enough')));
  await expect(ask(url, { signal: stop.signal })).rejects.toThrow('enough');
  const moved = await serve((response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/' });
    response.end();
  });
  expect(await ask(moved, { signal: signal() })).toMatchObject({
    status: 302,
    location: 'http://169.254.169.254/',
  });
});
