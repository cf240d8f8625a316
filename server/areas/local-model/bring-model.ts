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
  ended: Promise<Brought>;
}

/** What became of bringing one; what came so far stays, but where it is not the file that was meant. */
export type Brought = { state: 'here' | 'stopped' } | { state: 'failed'; error: string };

/** A job that brings one, wherever it is worked on. */
export interface FetchRow {
  id: number;
  key: string;
  state: 'queued' | 'running' | 'done' | 'error' | 'cancelled';
  error: string;
}

export const isOpen = ({ state }: FetchRow): boolean => state === 'queued' || state === 'running';

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

const full = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Brings models to this machine, and tells how each stands.
 * @param deps `onHere`: called when one has come
 */
export const createBringing = (deps: {
  folder: string;
  settings: Pick<Settings, 'fetchAllowed'>;
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  onHere: () => Promise<void>;
}) => {
  const { folder, log, onHere } = deps;
  const guard = createGuard({ allowed: deps.settings.fetchAllowed });
  const fetching = new Map<string, Fetching>();

  const fetchAll = async (entry: ShelfEntry, now: Omit<Fetching, 'ended'>): Promise<void> => {
    await mkdir(folder, { recursive: true });
    await writeFile(wantedOf(folder, entry), '');
    const { checked } = await fetchModel({
      addresses: [
        ...(await readMirrors(folder, log)),
        ...(entry.besides ? [entry.besides] : []),
      ].map((each) => each.replace('{repository}', entry.repository).replace('{file}', entry.file)),
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
  };

  const failure = (entry: ShelfEntry, error: unknown): string => {
    if (full(error)) return '磁盘满了：下好的部分留着，腾出空间以后接着下载';
    const told = error instanceof FetchFailed ? error.message : '写不下来，请看磁盘与权限';
    const byHand =
      error instanceof NothingReached && !isArchive(entry.file)
        ? `。也可以在别的机器上下载 ${entry.file}，放进 ${folder}`
        : '';
    return told + byHand;
  };

  const begin = (entry: ShelfEntry): Fetching => {
    const now: Omit<Fetching, 'ended'> = {
      stop: new AbortController(),
      state: 'fetching',
      bytes: 0,
      total: 0,
    };
    const work = async (): Promise<Brought> => {
      try {
        await fetchAll(entry, now);
        return { state: 'here' };
      } catch (error) {
        if (now.stop.signal.aborted) return { state: 'stopped' };
        log.warn({ err: error, model: entry.key }, 'a model could not be brought here');
        return { state: 'failed', error: failure(entry, error) };
      } finally {
        fetching.delete(entry.key);
      }
    };
    return Object.assign(now, { ended: work() });
  };

  return {
    /** Whoever asks for one that is on its way waits for that. */
    bring: (entry: ShelfEntry): Promise<Brought> => {
      const now = fetching.get(entry.key) ?? begin(entry);
      fetching.set(entry.key, now);
      return now.ended;
    },

    /** @param job the last that brought it, in whichever process */
    stateOf: async (entry: ShelfEntry, job?: FetchRow): Promise<LocalModel> => {
      const now = fetching.get(entry.key);
      const ready = (await findModel(folder, entry.key)) !== null;
      const part = now?.bytes ?? (await bytesOf(`${pathOf(folder, entry)}.part`));
      const wanted = await isWanted(folder, entry);
      const error = ready || now ? '' : (job?.error ?? '');
      const left = error !== '' ? 'failed' : wanted || part > 0 ? 'waiting' : 'none';
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
        state: ready ? 'ready' : (now?.state ?? (job && isOpen(job) ? 'fetching' : left)),
        bytes: ready ? size : part,
        total: now?.total || size,
        checked: ready && (await checkOf(pathOf(folder, entry)))?.checked === true,
        error,
      };
    },

    /** Ends what is being brought here; it is wanted still. */
    halt: ({ key }: ShelfEntry): void => fetching.get(key)?.stop.abort(),

    /** Ends it, and wants it no more. */
    stop: async (entry: ShelfEntry): Promise<void> => {
      fetching.get(entry.key)?.stop.abort();
      await rm(wantedOf(folder, entry), { force: true });
    },

    close: (): void => {
      for (const { stop } of fetching.values()) stop.abort();
    },
  };
};

export type Bringing = ReturnType<typeof createBringing>;
