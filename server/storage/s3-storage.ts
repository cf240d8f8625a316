import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AwsClient } from 'aws4fetch';
import type { S3Settings } from '../settings.ts';
import type { Storage } from './storage.ts';
import { requireKey } from './storage-key.ts';

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
    retries: 2,
  });
  const base = settings.bucket ? `${settings.endpoint}/${settings.bucket}` : settings.endpoint;

  const ask = async (
    key: string,
    init: { method: string; body?: Buffer; headers?: Record<string, string> },
  ): Promise<Response> => {
    requireKey(key);
    const { body, ...rest } = init;
    return client.fetch(`${base}/${key}`, {
      ...rest,
      ...(body ? { body: new Uint8Array(body) } : {}),
      signal: AbortSignal.timeout(patience),
    });
  };

  /** @throws Error with the status alone: what a service says may hold its secrets */
  const require = async (response: Response, what: string): Promise<void> => {
    if (response.ok) return;
    await response.body?.cancel();
    throw new Error(`the storage answered ${response.status} to ${what}`);
  };

  return {
    async put(key, data, mime) {
      const headers = {
        'content-type': mime,
        'x-amz-content-sha256': createHash('sha256').update(data).digest('hex'),
      };
      const response = await ask(key, { method: 'PUT', body: data, headers });
      await require(response, 'PUT');
      await response.body?.cancel();
    },

    async get(key) {
      const response = await ask(key, { method: 'GET' });
      if (response.status === 404) {
        await response.body?.cancel();
        return null;
      }
      await require(response, 'GET');
      if (!response.body) throw new Error('the storage sent no file');
      const size = Number(response.headers.get('content-length') ?? Number.NaN);
      if (Number.isSafeInteger(size) && size >= 0)
        return {
          stream: Readable.from(response.body as AsyncIterable<Uint8Array>, { objectMode: false }),
          size,
        };
      const whole = Buffer.from(await response.arrayBuffer());
      return { stream: Readable.from([whole]), size: whole.length };
    },

    async delete(key) {
      const response = await ask(key, { method: 'DELETE' });
      if (response.status !== 404) await require(response, 'DELETE');
      await response.body?.cancel();
    },
  };
};
