import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { LocalModel } from '#contract/local-model.ts';
import type { ShelfEntry } from '#server/engines/local/catalogue.ts';
import {
  checkOf,
  FetchFailed,
  fetchModel,
  NothingReached,
} from '#server/engines/local/fetch-model.ts';
import { findModel, isArchive, placeOf } from '#server/engines/local/model-folder.ts';
import { unpackModel } from '#server/engines/local/unpack-model.ts';
import { createGuard } from '#server/net/guarded-fetch.ts';
import type { Settings } from '#server/settings.ts';
import { readMirrors } from './mirrors.ts';

interface Fetching {
  stop: AbortController;
  state: 'fetching' | 'checking';
  bytes: number;
  total: number;
}

export const bytesOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** Where its file comes to lie; an archive goes once it is unpacked. */
export const pathOf = (folder: string, { file }: ShelfEntry): string => path.join(folder, file);

/** Says, also after a restart, that a model is wanted although it is not whole. */
const wantedOf = (folder: string, entry: ShelfEntry): string => `${pathOf(folder, entry)}.wanted`;

export const isWanted = (folder: string, entry: ShelfEntry): Promise<boolean> =>
  stat(wantedOf(folder, entry)).then(
    () => true,
    () => false,
  );

/**
 * Brings models to this machine, and tells how each stands.
 * @param deps `onHere`: called when one has come
 */
export const createBringing = (deps: {
  folder: string;
  settings: Pick<Settings, 'fetchAllowed'>;
  log: FastifyBaseLogger;
  onHere: () => Promise<void>;
}) => {
  const { folder, log, onHere } = deps;
  const guard = createGuard({ allowed: deps.settings.fetchAllowed });
  const fetching = new Map<string, Fetching>();
  const errors = new Map<string, string>();

  const bring = async (entry: ShelfEntry): Promise<void> => {
    if (fetching.has(entry.key)) return;
    const now: Fetching = { stop: new AbortController(), state: 'fetching', bytes: 0, total: 0 };
    fetching.set(entry.key, now);
    errors.delete(entry.key);
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(wantedOf(folder, entry), '');
      const { checked } = await fetchModel({
        addresses: [
          ...(await readMirrors(folder, log)),
          ...(entry.besides ? [entry.besides] : []),
        ].map((each) =>
          each.replace('{repository}', entry.repository).replace('{file}', entry.file),
        ),
        path: pathOf(folder, entry),
        size: entry.size,
        sha256: entry.sha256,
        head: isArchive(entry.file)
          ? { bytes: 'BZh', what: 'tar.bz2 压缩包' }
          : { bytes: 'GGUF', what: 'GGUF 模型' },
        guard,
        signal: now.stop.signal,
        progress: (bytes, total) => {
          now.bytes = bytes;
          now.total = total;
          if (total > 0 && bytes >= total) now.state = 'checking';
        },
      });
      if (isArchive(entry.file) && (await bytesOf(pathOf(folder, entry))) > 0) {
        now.state = 'checking';
        const place = placeOf(folder, entry);
        const most = (entry.unpacked ?? entry.size * 4) * 1.5;
        await unpackModel({ archive: pathOf(folder, entry), folder: place, most }, now.stop.signal);
      }
      log.info({ model: entry.key, checked }, 'a model came to this machine');
      await rm(wantedOf(folder, entry), { force: true });
      await onHere();
    } catch (error) {
      if (now.stop.signal.aborted) return;
      const told = error instanceof FetchFailed ? error.message : '写不下来，请看磁盘与权限';
      const byHand =
        error instanceof NothingReached && !isArchive(entry.file)
          ? `。也可以在别的机器上下载 ${entry.file}，放进 ${folder}`
          : '';
      errors.set(entry.key, told + byHand);
      log.warn({ err: error, model: entry.key }, 'a model could not be brought here');
    } finally {
      fetching.delete(entry.key);
    }
  };

  const stateOf = async (entry: ShelfEntry): Promise<LocalModel> => {
    const now = fetching.get(entry.key);
    const ready = (await findModel(folder, entry.key)) !== null;
    const part = now?.bytes ?? (await bytesOf(`${pathOf(folder, entry)}.part`));
    const wanted = await isWanted(folder, entry);
    const error = errors.get(entry.key) ?? '';
    const { key, kind, label, file, size, memory, licence, languages } = entry;
    return {
      key,
      kind,
      label,
      file,
      size,
      memory,
      licence,
      languages,
      state: ready
        ? 'ready'
        : (now?.state ?? (error !== '' ? 'failed' : wanted || part > 0 ? 'waiting' : 'none')),
      bytes: ready ? size : part,
      total: now?.total || size,
      checked: ready && (await checkOf(pathOf(folder, entry)))?.checked === true,
      error,
    };
  };

  /** Ends what is being brought, and wants it no more. */
  const stop = async (entry: ShelfEntry): Promise<void> => {
    fetching.get(entry.key)?.stop.abort();
    errors.delete(entry.key);
    await rm(wantedOf(folder, entry), { force: true });
  };

  return {
    bring,
    stateOf,
    stop,
    close: (): void => {
      for (const { stop } of fetching.values()) stop.abort();
    },
  };
};
