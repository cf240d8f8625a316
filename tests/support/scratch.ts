import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What the databases and files of a whole run take, several times over. */
const room = 4 * 1024 ** 3;

const memory = (): string | null => {
  const folder = '/dev/shm';
  if (!existsSync(folder) || process.availableMemory() < room) return null;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < room ? null : folder;
};

const makeIn = (place: string, name: string): string => {
  const folder = mkdtempSync(path.join(place, `queqiao-${name}-`));
  // Otherwise the database of root would lie outside of it, in /var/lib/queqiao, and stay there.
  chmodSync(folder, 0o755);
  return folder;
};

/** A new folder; in that of the run, where there is one. */
export const scratchFolder = (name: string): string =>
  makeIn(process.env['TEST_SCRATCH'] ?? tmpdir(), name);

/**
 * Makes the folder of a run of tests, in memory where there is room: each database is some 400
 * files, and writing those to a disk takes most of what a test takes of the processor. Gives what
 * removes it with all in it.
 */
export const startScratch = (): (() => void) => {
  const folder = makeIn(memory() ?? tmpdir(), 'run');
  process.env['TEST_SCRATCH'] = folder;
  return () => {
    delete process.env['TEST_SCRATCH'];
    rmSync(folder, { recursive: true, force: true });
  };
};
