import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { request, type Dispatcher } from 'undici';
import { timeLimit } from '../net/time-limit.ts';
import type { S3Settings } from '../settings.ts';
import { bytesOf } from './byte-range.ts';
import { type Storage, StorageAway } from './storage-interface.ts';
import { requireKey } from './storage-key.ts';

type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

/** A service that is busy or not well is asked so often, with some rest between. */
const tries = 3;
const restMs = 100;

/** It is busy, or not well. */
const isPassing = (status: number): boolean => status >= 500 || status === 429;

/**
 * Files in one bucket of a service that speaks S3 (AWS, MinIO, R2, OSS, COS), addressed by path:
 * `<endpoint>/<bucket>/<key>`, or `<endpoint>/<key>` where no bucket is set because the endpoint
 * names it. `patience`: from the request to its whole answer, tries included, ms.
 */
export const createS3Storage = (settings: S3Settings, patience = 30_000): Storage => {
  const client = new AwsClient({
    accessKeyId: settings.accessKey,
    secretAccessKey: settings.secretKey,
    region: settings.region,
    service: 's3',
  });
  const base = settings.bucket ? `${settings.endpoint}/${settings.bucket}` : settings.endpoint;

  const ask = async (
    key: string,
    init: {
      method: 'GET' | 'PUT' | 'DELETE';
      /** Anew for each try. */
      body?: () => Buffer | Readable;
      headers?: Record<string, string>;
    },
  ): Promise<Answer> => {
    requireKey(key);
    const { method, body, headers = {} } = init;
    const url = `${base}/${key}`;
    const signal = timeLimit(patience);
    for (let left = tries - 1; ; left -= 1) {
      const signed = await client.sign(url, { method, headers });
      const answer = await request(url, {
        method,
        headers: Object.fromEntries(signed.headers),
        body: body?.() ?? null,
        signal,
      }).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        throw new StorageAway(`the storage cannot be reached: ${why}`, { cause: error });
      });
      if (!isPassing(answer.statusCode) || left === 0) return answer;
      await answer.body.dump();
      await sleep(restMs * Math.random(), undefined, { signal });
    }
  };

  /** @throws Error, StorageAway with the status alone: what a service says may hold its secrets */
  const require = async ({ statusCode, body }: Answer, what: string): Promise<void> => {
    if (statusCode >= 200 && statusCode < 300) return;
    await body.dump();
    const said = `the storage answered ${statusCode} to ${what}`;
    throw isPassing(statusCode) ? new StorageAway(said) : new Error(said);
  };

  const store = async (
    key: string,
    body: () => Buffer | Readable,
    { mime, size, digest }: { mime: string; size: number; digest: string },
  ): Promise<void> => {
    const headers = {
      'content-type': mime,
      'content-length': String(size),
      'x-amz-content-sha256': digest,
    };
    const answer = await ask(key, { method: 'PUT', body, headers });
    await require(answer, 'PUT');
    await answer.body.dump();
  };

  return {
    put: (key, data, mime) =>
      store(key, () => data, {
        mime,
        size: data.length,
        digest: createHash('sha256').update(data).digest('hex'),
      }),

    async putFile(key, place, mime) {
      const hash = createHash('sha256');
      await pipeline(createReadStream(place), hash);
      const { size } = await stat(place);
      await store(key, () => createReadStream(place), { mime, size, digest: hash.digest('hex') });
    },

    async get(key) {
      const answer = await ask(key, { method: 'GET' });
      if (answer.statusCode === 404) {
        await answer.body.dump();
        return null;
      }
      await require(answer, 'GET');
      const size = Number(answer.headers['content-length'] ?? Number.NaN);
      if (Number.isSafeInteger(size) && size >= 0) return { stream: answer.body, size };
      const whole = await buffer(answer.body);
      return { stream: Readable.from([whole]), size: whole.length };
    },

    async getPart(key, range) {
      const {
        from = 0,
        to = null,
        last = 0,
      } = range as { from?: number; to?: number; last?: number };
      const asked = 'last' in range ? `bytes=-${last}` : `bytes=${from}-${to ?? ''}`;
      const answer = await ask(key, { method: 'GET', headers: { range: asked } });
      if (answer.statusCode === 404 || answer.statusCode === 416) {
        await answer.body.dump();
        return answer.statusCode === 404 ? null : 'outside';
      }
      await require(answer, 'GET');
      const told = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(answer.headers['content-range'] ?? ''));
      if (told) {
        const [begin = 0, end = 0, size = 0] = told.slice(1).map(Number);
        return { stream: answer.body, from: begin, to: end, size };
      }
      // It gave all of it.
      const whole = await buffer(answer.body);
      const part = bytesOf(range, whole.length);
      if (part === null) return 'outside';
      const stream = Readable.from([whole.subarray(part.from, part.to + 1)]);
      return { stream, ...part, size: whole.length };
    },

    async delete(key) {
      const answer = await ask(key, { method: 'DELETE' });
      if (answer.statusCode !== 404) await require(answer, 'DELETE');
      await answer.body.dump();
    },
  };
};
