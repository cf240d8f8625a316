import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { usualMirrors } from '#server/engines/local/catalogue.ts';

const fileOf = (folder: string): string => path.join(folder, 'mirrors.json');

/** Where models are fetched from, as it was set; else the usual ones. */
export const readMirrors = async (
  folder: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<readonly string[]> => {
  const text = await readFile(fileOf(folder), 'utf8').catch(() => '');
  if (text === '') return usualMirrors;
  try {
    return JSON.parse(text) as string[];
  } catch {
    log.warn('the list of mirrors cannot be read');
    return usualMirrors;
  }
};

/** Keeps where models are fetched from; nothing: the usual ones again. */
export const writeMirrors = async (folder: string, wanted: readonly string[]): Promise<void> => {
  await mkdir(folder, { recursive: true });
  if (wanted.length === 0) await rm(fileOf(folder), { force: true });
  else await writeFile(fileOf(folder), JSON.stringify(wanted));
};
