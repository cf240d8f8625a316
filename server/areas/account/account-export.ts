import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Executor } from '#server/db/database.ts';
import type { Kit } from '#server/area.ts';
import type { JobWork } from '#server/jobs/job-kind.ts';
import { newKey } from '#server/storage/storage.ts';
import type { AccountData } from './account-data.ts';
import * as store from './account.store.ts';

/** How long the file can be fetched. */
export const fileDays = 3;
export const exportLivesMs = 3_600_000;

/** Bytes that are packed before others are served. */
const pushedAtOnce = 256 * 1024;

interface Made {
  key: string;
  size: number;
}

/** Puts all that is a person's into one zip, a file after the other, without holding it in memory. */
export const createAccountExport = (
  { storage, db }: Pick<Kit, 'storage' | 'db'>,
  dataOf: (executor: Executor, userId: number, signal: AbortSignal) => AsyncIterable<AccountData>,
): JobWork<unknown> => {
  const made: JobWork<Made> = {
    kind: 'account-export',
    livesMs: exportLivesMs,
    words: {
      name: '账户数据',
      failed: '没有整理成，请重试',
      done: async (_executor, ids) => new Map(ids.map((id) => [id, '账户数据整理好了，可以下载'])),
      url: () => '/account?tab=profile',
    },
    work: async (job, io) => {
      const { Zip, ZipDeflate, ZipPassThrough } = await import('fflate');
      const folder = await mkdtemp(path.join(tmpdir(), 'queqiao-account-'));
      try {
        const place = path.join(folder, 'account.zip');
        const out = createWriteStream(place);
        const written = once(out, 'close');
        let room: Promise<unknown> = Promise.resolve();
        const zip = new Zip((error, chunk, final) => {
          if (error) out.destroy(error);
          else if (!out.write(chunk)) room = once(out, 'drain');
          if (final) out.end();
        });
        for await (const { name, data, done } of dataOf(db, job.user_id, io.signal)) {
          const file = data.packed ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 6 });
          zip.add(file);
          const { bytes } = data;
          for (let at = 0; at === 0 || at < bytes.length; at += pushedAtOnce) {
            file.push(bytes.subarray(at, at + pushedAtOnce), at + pushedAtOnce >= bytes.length);
            await room;
            // It is packed in the thread that serves everybody.
            await breathe();
            io.signal.throwIfAborted();
          }
          io.progress(done * 0.95);
        }
        zip.end();
        await written;
        const { size } = await stat(place);
        const key = newKey();
        await storage.putFile(key, place, 'application/zip');
        return { result: { key, size } };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    finish: async (tx, job, end) => {
      if (end.state === 'done')
        await store.insertFile(tx, {
          jobId: job.id,
          userId: job.user_id,
          ...end.result,
          days: fileDays,
        });
      return { state: end.state, deductTokens: 0 };
    },
    discard: ({ key }) => storage.delete(key),
    clear: () => Promise.resolve(),
  };
  return made as JobWork<unknown>;
};
