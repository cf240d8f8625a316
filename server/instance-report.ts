import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from './db/database.ts';
import type { Instance } from './db/instance.ts';
import { reportInstance } from './db/instance.store.ts';
import type { Settings } from './settings.ts';

const interval = 30_000;

/**
 * Tells the other processes, now and every half minute, how this one does and how much of the disk
 * with its data folder is free; nothing of the disk where it has no such folder.
 */
export const startInstanceReport = async (
  db: Database,
  instance: Pick<Instance, 'id'>,
  { dataDir, version }: Pick<Settings, 'dataDir' | 'version'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<{ close: () => Promise<void> }> => {
  let before = performance.eventLoopUtilization();
  const report = async (): Promise<void> => {
    const disk = await statfs(dataDir).catch(() => null);
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    const seen = {
      diskFree: disk && disk.bavail * disk.bsize,
      diskTotal: disk && disk.blocks * disk.bsize,
      host: hostname(),
      version,
      load: Math.round(utilization * 1000) / 1000,
      memory: process.memoryUsage.rss(),
    };
    await reportInstance(db, instance.id, seen).catch((error: unknown) =>
      log.warn({ err: error }, 'how this process does is not told'),
    );
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
