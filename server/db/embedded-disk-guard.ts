import { open, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { hasCode } from './embedded-place.ts';

/**
 * PostgreSQL goes down when there is no room for its log of changes, and then nobody can even
 * read. So the embedded database stops taking writes (SQLSTATE 25006) while there still is a
 * little room, and takes them again when there is more.
 */
const lowWater = 32 * 1024 * 1024;
const highWater = 48 * 1024 * 1024;
/** How often the room is looked at, ms. */
const rhythm = 1000;

/** Included by postgresql.conf. Both texts are equally long: writing one over the other needs no room. */
export const modeFile = 'queqiao-mode.conf';
export const modes = {
  writable: 'default_transaction_read_only = off\n',
  readOnly: 'default_transaction_read_only = on \n',
};

export interface DiskGuard {
  look: () => Promise<void>;
  end: () => void;
}

/** Watches the disk of the data folder; `reload` makes the running database read its files again. */
export const watchDisk = (
  data: string,
  reload: () => Promise<void>,
  log: FastifyBaseLogger,
): DiskGuard => {
  const path = join(data, modeFile);

  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(data);
    const free = bavail * bsize;
    const now = await readFile(path, 'utf8');
    const next = free < lowWater ? modes.readOnly : free > highWater ? modes.writable : now;
    if (next === now) return;
    const file = await open(path, 'r+');
    try {
      await file.write(next, 0);
      await file.datasync();
    } finally {
      await file.close();
    }
    await reload();
    const freeMegabytes = Math.floor(free / 1024 / 1024);
    if (next === modes.readOnly) {
      log.error(
        { freeMegabytes },
        'the disk is nearly full: the database is read-only until there is room',
      );
    } else log.info({ freeMegabytes }, 'the disk has room: the database can be written again');
  };

  const timer = setInterval(() => {
    look().catch((error: unknown) => {
      // The folder may just be going away with everything else.
      if (!hasCode(error, 'ENOENT')) log.warn({ err: error }, 'the room on the disk is not known');
    });
  }, rhythm);
  timer.unref();
  return { look, end: () => clearInterval(timer) };
};
