import { rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { LocalModel } from '#contract/local-model.ts';
import type { ShelfEntry } from '#server/engines/local/catalogue.ts';
import {
  findModel,
  modelFolder,
  type ModelHere,
  modelsHere,
  readShelf,
} from '#server/engines/local/model-folder.ts';
import type { Database } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import { isInstalled } from '#server/optional-packages.ts';
import type { Settings } from '#server/settings.ts';
import type { ModelService } from '../model/model.service.ts';
import { bytesOf, createBringing, isWanted, pathOf } from './bring-model.ts';
import { createFetches } from './fetches.ts';
import { createFetchWork } from './fetch-job.ts';
import { readMirrors, writeMirrors } from './mirrors.ts';

/** Free beside a model that is brought here, bytes. */
const diskSpare = 512 * 1024 * 1024;

/** What a kind of model needs that is not installed, and what to do; empty: nothing. */
const missingFor = (kind: LocalModel['kind']): string => {
  const name = kind === 'hear' || kind === 'speak' ? 'sherpa-onnx-node' : 'node-llama-cpp';
  return isInstalled(name)
    ? ''
    : `没有安装 ${name}（可选的组件）：运行 npm install ${name}，不要设 WITHOUT_PACKAGES，然后重启`;
};

/** @throws Refusal not_found */
const entryOf = async (folder: string, key: string): Promise<ShelfEntry> => {
  const entry = (await readShelf(folder)).find((each) => each.key === key);
  if (!entry) throw new Refusal('not_found', '货架上没有这个模型');
  return entry;
};
/** A model whose file somebody put there. */
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

const diskFree = async (dataDir: string): Promise<number> => {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
};

/** The models of this machine: brought here by one press, offered while their files are here. */
export const createLocalModels = (deps: {
  db: Database;
  settings: Settings;
  log: FastifyBaseLogger;
  models: Pick<ModelService, 'offerLocal'>;
}) => {
  const { db, settings, log, models } = deps;
  const folder = modelFolder(settings.dataDir);
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

  const bringing = createBringing({ folder, settings, log, onHere: offer });
  const fetches = createFetches({ db, folder, bringing, workers: settings.workers });

  const stop = async (entry: ShelfEntry, jobs: Pick<Jobs, 'cancel'>): Promise<void> => {
    await bringing.stop(entry);
    await fetches.stop(entry.key, jobs);
  };

  return {
    job: createFetchWork({ folder, bringing, entryOf: (key) => entryOf(folder, key) }),

    shelf: async () => {
      const here = await modelsHere(folder);
      const shelf = await readShelf(folder);
      const own = here.filter(({ key }) => !shelf.some((entry) => entry.key === key));
      const last = await fetches.last();
      // A file that was just put there by hand is offered from now on.
      await offer();
      return {
        list: [
          ...(await Promise.all(shelf.map((entry) => bringing.stateOf(entry, last(entry.key))))),
          ...(await Promise.all(own.map(byHand))),
        ],
        reason: missingFor('chat'),
        speech_reason: missingFor('hear'),
        machine: {
          memory: os.totalmem(),
          memory_free: os.freemem(),
          disk_free: await diskFree(settings.dataDir),
          processors: os.availableParallelism(),
        },
        mirrors: [...(await readMirrors(folder, log))],
        folder,
      };
    },

    /** These three give how it stood before. */
    fetch: async (key: string, userId: number): Promise<LocalModel['state']> => {
      const entry = await entryOf(folder, key);
      const { state } = await bringing.stateOf(entry);
      const missing = missingFor(entry.kind);
      if (missing !== '') throw new Refusal('manage_unsuitable', missing);
      if (state === 'ready') return state;
      if ((await diskFree(settings.dataDir)) < entry.size + (entry.unpacked ?? 0) + diskSpare)
        throw new Refusal('manage_unsuitable', '磁盘剩余的空间放不下这个模型');
      await fetches.begin(entry, userId);
      return state;
    },

    stop: async (key: string, jobs: Pick<Jobs, 'cancel'>): Promise<LocalModel['state']> => {
      const entry = await entryOf(folder, key);
      const { state } = await bringing.stateOf(entry);
      await stop(entry, jobs);
      return state;
    },

    remove: async (key: string, jobs: Pick<Jobs, 'cancel'>): Promise<LocalModel['state']> => {
      const file = await findModel(folder, key);
      const entry = (await readShelf(folder)).find((each) => each.key === key);
      const state = entry ? (await bringing.stateOf(entry)).state : 'ready';
      if (entry) {
        await stop(entry, jobs);
        await rm(`${pathOf(folder, entry)}.part`, { force: true });
      } else if (file === null) throw new Refusal('not_found', '没有这个模型');
      if (file !== null) await rm(file, { recursive: true, force: true });
      const noted = entry ? pathOf(folder, entry) : file;
      await rm(`${noted}.check`, { force: true });
      await offer();
      return state;
    },

    saveMirrors: async (wanted: string[]): Promise<{ before: string[]; after: string[] }> => {
      const before = [...(await readMirrors(folder, log))];
      await writeMirrors(folder, wanted);
      return { before, after: [...(await readMirrors(folder, log))] };
    },

    /** Offers what is here, and goes on with what was begun or is asked for by the settings. */
    start: async (): Promise<void> => {
      await offer();
      for (const entry of await readShelf(folder)) {
        const wanted = entry.key === settings.localModel || (await isWanted(folder, entry));
        if (wanted && (await findModel(folder, entry.key)) === null) await fetches.begin(entry);
      }
    },

    close: bringing.close,
  };
};
