import { statfs } from 'node:fs/promises';
import { eq } from 'drizzle-orm';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from './db/database.ts';
import type { Instance } from './db/instance.ts';
import { instances } from './db/schema.ts';

const interval = 30_000;

/**
 * Tells the other processes how much of the disk with a folder is free, now and every half minute;
 * nothing where this process has no such folder.
 */
export const startDiskReport = async (
  db: Database,
  instance: Pick<Instance, 'id'>,
  folder: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<{ close: () => Promise<void> }> => {
  const report = async (): Promise<void> => {
    const disk = await statfs(folder).catch(() => null);
    const seen = {
      diskFree: disk && disk.bavail * disk.bsize,
      diskTotal: disk && disk.blocks * disk.bsize,
    };
    await db
      .update(instances)
      .set(seen)
      .where(eq(instances.id, instance.id))
      .catch((error: unknown) => log.warn({ err: error }, 'the state of the disk is not told'));
  };
  let running = report();
  const timer = setInterval(() => {
    running = running.then(report);
  }, interval).unref();
  await running;
  return {
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
};
