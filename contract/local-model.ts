import * as z from 'zod/mini';
import { call, text } from './call.ts';

const key = text(80).check(z.regex(/^[\w.-]{1,80}$/));

/** A model of this machine's shelf. Sizes in bytes. */
const localModel = z.object({
  key: z.string(),
  label: z.string(),
  /** Its name in the folder of models. */
  file: z.string(),
  size: z.int(),
  /** What it takes while it answers; 0: not known. */
  memory: z.int(),
  licence: z.string(),
  languages: z.string(),
  /** none: not here; waiting: it was begun and is brought by another process, or was left off. */
  state: z.enum(['none', 'fetching', 'checking', 'waiting', 'failed', 'ready']),
  /** Of it here so far, and of all of it as the mirror told. */
  bytes: z.int(),
  total: z.int(),
  /** Why the last try failed, in words for people. */
  error: z.string(),
});
export type LocalModel = z.output<typeof localModel>;

/** Where a model is asked for: `{repository}` and `{file}` are filled in. */
export const mirror = text(500).check(
  z.regex(/^https?:\/\/[^\s{}]+\S*\{file\}\S*$/, '应为含有 {file} 的网址'),
);

export const localModelCalls = {
  localModels: call({
    method: 'GET',
    path: '/api/admin/local_models',
    access: 'owner',
    summary: '管理：本机模型的货架，与这台机器的内存和磁盘',
    input: z.object({}),
    output: z.object({
      list: z.array(localModel),
      /** Empty: it can run here; else why not. */
      reason: z.string(),
      machine: z.object({
        memory: z.int(),
        memory_free: z.int(),
        disk_free: z.int(),
        processors: z.int(),
      }),
      mirrors: z.array(z.string()),
      /** Where a file may be put by hand. */
      folder: z.string(),
    }),
  }),
  fetchLocalModel: call({
    method: 'POST',
    path: '/api/admin/fetch_local_model',
    access: 'owner',
    summary: '管理：下载一个本机模型，断了的接着下',
    input: z.object({ key }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  stopLocalModel: call({
    method: 'POST',
    path: '/api/admin/stop_local_model',
    access: 'owner',
    summary: '管理：停下一个下载，已经下好的部分留着',
    input: z.object({ key }),
    output: z.object({}),
  }),
  removeLocalModel: call({
    method: 'POST',
    path: '/api/admin/remove_local_model',
    access: 'owner',
    summary: '管理：从这台机器删去一个模型的文件',
    input: z.object({ key }),
    output: z.object({}),
  }),
  saveLocalMirrors: call({
    method: 'POST',
    path: '/api/admin/save_local_mirrors',
    access: 'owner',
    summary: '管理：到哪里下载本机模型，按次序；空的是恢复原样',
    input: z.object({ mirrors: z.array(mirror).check(z.maxLength(10)) }),
    output: z.object({ mirrors: z.array(z.string()) }),
  }),
};
