import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder and those above it that are missing. `mkdir` with `recursive` tries for ever where
 * the file system says that what holds it is missing although it is there, as /proc does.
 * @param mode of those that are made
 */
export const makeFolder = async (folder: string, mode?: number): Promise<void> => {
  const there = await stat(folder).catch(() => null);
  if (there?.isDirectory()) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above, mode);
  await mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
    // Another process made it meanwhile.
    if (error.code !== 'EEXIST' || there) throw error;
  });
};
