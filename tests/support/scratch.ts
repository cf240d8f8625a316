import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What the databases and files of a whole run take, several times over. */
const room = 4 * 1024 ** 3;

const inMemory = (): string | null => {
  const folder = '/dev/shm';
  if (!existsSync(folder) || process.availableMemory() < room) return null;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < room ? null : folder;
};

/**
 * A new folder, in memory where there is room: each database is some 400 files, and writing those
 * to a disk takes most of what a test takes of the processor.
 */
export const scratchFolder = (name: string): string => {
  const folder = mkdtempSync(path.join(inMemory() ?? tmpdir(), `queqiao-${name}-`));
  // Otherwise the database of root would lie outside of it, in /var/lib/queqiao, and stay there.
  chmodSync(folder, 0o755);
  return folder;
};
