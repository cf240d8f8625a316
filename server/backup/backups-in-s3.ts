import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { AwsClient } from 'aws4fetch';
import { request } from 'undici';
import type { Database } from '../db/database.ts';
import type { S3Settings } from '../settings.ts';
import * as store from './backup.store.ts';

/** The most that S3 takes in one request, bytes. */
const most = 5 * 1024 ** 3;
/** How long the service may be silent, ms. */
const silentMs = 60_000;
const tries = 3;

/**
 * Backups in a bucket of the object storage, beside those on the machine: `<bucket>/backups/<name>`.
 * Only what this service put there is ever deleted.
 */
export const createBackupsInS3 = (db: Database, s3: S3Settings, bucket: string) => {
  const client = new AwsClient({
    accessKeyId: s3.accessKey,
    secretAccessKey: s3.secretKey,
    region: s3.region,
    service: 's3',
  });

  /** @throws Error in Chinese, without what the service says: it may hold secrets */
  const ask = async (method: 'PUT' | 'DELETE', place: string, file?: string): Promise<void> => {
    const bytes = file === undefined ? 0 : (await stat(file)).size;
    if (bytes > most) throw new Error('备份超过 5 GB，对象存储一次收不下：请另外复制一份');
    for (let left = tries - 1; ; left -= 1) {
      const { headers } = await client.sign(`${s3.endpoint}/${place}`, {
        method,
        headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      });
      const status = await request(`${s3.endpoint}/${place}`, {
        method,
        headers: {
          ...Object.fromEntries(headers),
          ...(file === undefined ? {} : { 'content-length': String(bytes) }),
        },
        body: file === undefined ? null : createReadStream(file),
        bodyTimeout: silentMs,
        headersTimeout: silentMs,
      }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return String(statusCode);
        },
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (/^2|^404$/.test(status)) return;
      if (left === 0) throw new Error(`对象存储没有收下备份（${status}）：请检查 BACKUP_S3_BUCKET`);
    }
  };

  return {
    /** Puts a backup there, and removes the older ones beyond `keep`. */
    put: async (file: string, keep: number): Promise<void> => {
      const name = path.basename(file);
      const place = `${bucket}/backups/${name}`;
      await ask('PUT', place, file);
      await store.noteElsewhere(db, name, place);
      const kept = await store.keptElsewhere(db);
      for (const { name: old, elsewhere } of kept.slice(keep)) {
        if (elsewhere) await ask('DELETE', elsewhere);
        await store.noteElsewhere(db, old, null);
      }
    },
  };
};
