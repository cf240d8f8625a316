import { mkdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { LocalModel } from '#contract/local-model.ts';
import { type ShelfEntry, usualMirrors } from '#server/engines/local/catalogue.ts';
import { checkOf, FetchFailed, fetchModel } from '#server/engines/local/fetch-model.ts';
import {
  findModel,
  isArchive,
  modelFolder,
  type ModelHere,
  modelsHere,
  placeOf,
  readShelf,
} from '#server/engines/local/model-folder.ts';
import { unpackModel } from '#server/engines/local/unpack-model.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createGuard } from '#server/net/guarded-fetch.ts';
import { isInstalled } from '#server/optional-packages.ts';
import type { Settings } from '#server/settings.ts';
import type { ModelService } from '../model/model.service.ts';

interface Fetching {
  stop: AbortController;
  state: 'fetching' | 'checking';
  bytes: number;
  total: number;
}

/** Free beside a model that is brought here, bytes. */
const diskSpare = 512 * 1024 * 1024;

/** What a kind of model needs that is not installed, and what to do; empty: nothing. */
const missingFor = (kind: LocalModel['kind']): string => {
  const name = kind === 'hear' || kind === 'speak' ? 'sherpa-onnx-node' : 'node-llama-cpp';
  return isInstalled(name)
    ? ''
    : `没有安装 ${name}（可选的组件）：运行 npm install ${name}，不要设 WITHOUT_PACKAGES，然后重启`;
};

const bytesOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** The models of this machine: brought here by one press, offered while their files are here. */
export const createLocalModels = (deps: {
  settings: Settings;
  log: FastifyBaseLogger;
  models: Pick<ModelService, 'offerLocal'>;
}) => {
  const { settings, log, models } = deps;
  const folder = modelFolder(settings.dataDir);
  const guard = createGuard({ allowed: settings.fetchAllowed });
  const fetching = new Map<string, Fetching>();
  const errors = new Map<string, string>();
  const mirrorFile = path.join(folder, 'mirrors.json');
  const entryOf = async (key: string): Promise<ShelfEntry> => {
    const entry = (await readShelf(folder)).find((each) => each.key === key);
    if (!entry) throw new Refusal('not_found', '货架上没有这个模型');
    return entry;
  };
  /** Where its file comes to lie; an archive goes once it is unpacked. */
  const pathOf = ({ file }: ShelfEntry) => path.join(folder, file);
  /** Says, also after a restart, that a model is wanted although it is not whole. */
  const wantedOf = (entry: ShelfEntry) => `${pathOf(entry)}.wanted`;

  const mirrors = async (): Promise<readonly string[]> => {
    const text = await readFile(mirrorFile, 'utf8').catch(() => '');
    if (text === '') return usualMirrors;
    try {
      return JSON.parse(text) as string[];
    } catch {
      log.warn('the list of mirrors cannot be read');
      return usualMirrors;
    }
  };

  const offer = async (): Promise<void> => {
    const here = await modelsHere(folder);
    await models.offerLocal(
      here.flatMap(({ key, kind, label }) =>
        kind !== 'embedding' && kind !== 'rerank' && missingFor(kind) === ''
          ? [{ key, kind, label }]
          : [],
      ),
    );
  };

  const bring = async (entry: ShelfEntry): Promise<void> => {
    if (fetching.has(entry.key)) return;
    const now: Fetching = { stop: new AbortController(), state: 'fetching', bytes: 0, total: 0 };
    fetching.set(entry.key, now);
    errors.delete(entry.key);
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(wantedOf(entry), '');
      const { checked } = await fetchModel({
        addresses: [...(await mirrors()), ...(entry.besides ? [entry.besides] : [])].map((each) =>
          each.replace('{repository}', entry.repository).replace('{file}', entry.file),
        ),
        path: pathOf(entry),
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
      if (isArchive(entry.file) && (await bytesOf(pathOf(entry))) > 0) {
        now.state = 'checking';
        const place = placeOf(folder, entry);
        const most = (entry.unpacked ?? entry.size * 4) * 1.5;
        await unpackModel({ archive: pathOf(entry), folder: place, most }, now.stop.signal);
      }
      log.info({ model: entry.key, checked }, 'a model came to this machine');
      await rm(wantedOf(entry), { force: true });
      await offer();
    } catch (error) {
      if (now.stop.signal.aborted) return;
      const told = error instanceof FetchFailed ? error.message : '写不下来，请看磁盘与权限';
      errors.set(entry.key, told);
      log.warn({ err: error, model: entry.key }, 'a model could not be brought here');
    } finally {
      fetching.delete(entry.key);
    }
  };

  const stateOf = async (entry: ShelfEntry): Promise<LocalModel> => {
    const now = fetching.get(entry.key);
    const ready = (await findModel(folder, entry.key)) !== null;
    const part = now?.bytes ?? (await bytesOf(`${pathOf(entry)}.part`));
    const wanted = await stat(wantedOf(entry)).then(
      () => true,
      () => false,
    );
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
      checked: ready && (await checkOf(pathOf(entry)))?.checked === true,
      error,
    };
  };

  const byHand = async ({ key, kind, label, path: file }: ModelHere): Promise<LocalModel> => {
    const size = await bytesOf(file);
    return {
      key,
      kind,
      label,
      file: path.basename(file),
      size,
      memory: 0,
      licence: '',
      languages: '',
      state: 'ready',
      bytes: size,
      total: size,
      checked: false,
      error: '',
    };
  };

  const diskFree = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(settings.dataDir);
    return bavail * bsize;
  };

  return {
    shelf: async () => {
      const here = await modelsHere(folder);
      const shelf = await readShelf(folder);
      const own = here.filter(({ key }) => !shelf.some((entry) => entry.key === key));
      // A file that was just put there by hand is offered from now on.
      await offer();
      return {
        list: [...(await Promise.all(shelf.map(stateOf))), ...(await Promise.all(own.map(byHand)))],
        reason: missingFor('chat'),
        speech_reason: missingFor('hear'),
        machine: {
          memory: os.totalmem(),
          memory_free: os.freemem(),
          disk_free: await diskFree(),
          processors: os.availableParallelism(),
        },
        mirrors: [...(await mirrors())],
        folder,
      };
    },

    /** These three give how it stood before. */
    fetch: async (key: string): Promise<LocalModel['state']> => {
      const entry = await entryOf(key);
      const { state } = await stateOf(entry);
      const missing = missingFor(entry.kind);
      if (missing !== '') throw new Refusal('manage_unsuitable', missing);
      if (state === 'ready') return state;
      if ((await diskFree()) < entry.size + (entry.unpacked ?? 0) + diskSpare)
        throw new Refusal('manage_unsuitable', '磁盘剩余的空间放不下这个模型');
      void bring(entry);
      return state;
    },

    stop: async (key: string): Promise<LocalModel['state']> => {
      const entry = await entryOf(key);
      const { state } = await stateOf(entry);
      fetching.get(key)?.stop.abort();
      errors.delete(key);
      await rm(wantedOf(entry), { force: true });
      return state;
    },

    remove: async (key: string): Promise<LocalModel['state']> => {
      const file = await findModel(folder, key);
      const entry = (await readShelf(folder)).find((each) => each.key === key);
      const state = entry ? (await stateOf(entry)).state : 'ready';
      if (entry) {
        fetching.get(key)?.stop.abort();
        errors.delete(key);
        await rm(`${pathOf(entry)}.part`, { force: true });
        await rm(wantedOf(entry), { force: true });
      } else if (file === null) throw new Refusal('not_found', '没有这个模型');
      if (file !== null) await rm(file, { recursive: true, force: true });
      const noted = entry ? pathOf(entry) : file;
      await rm(`${noted}.check`, { force: true });
      await offer();
      return state;
    },

    saveMirrors: async (wanted: string[]): Promise<{ before: string[]; after: string[] }> => {
      const before = [...(await mirrors())];
      await mkdir(folder, { recursive: true });
      if (wanted.length === 0) await rm(mirrorFile, { force: true });
      else await writeFile(mirrorFile, JSON.stringify(wanted));
      return { before, after: [...(await mirrors())] };
    },

    /** Offers what is here, and goes on with what was begun or is asked for by the settings. */
    start: async (): Promise<void> => {
      await offer();
      for (const entry of await readShelf(folder)) {
        const wanted =
          entry.key === settings.localModel ||
          (await stat(wantedOf(entry)).catch(() => null)) !== null;
        if (wanted && (await findModel(folder, entry.key)) === null) void bring(entry);
      }
    },

    close: (): void => {
      for (const { stop } of fetching.values()) stop.abort();
    },
  };
};
