import * as z from 'zod/mini';
import { call, text } from './call.ts';

const key = text(80).check(z.regex(/^[\w.-]{1,80}$/));

/** A model of this machine's shelf. Sizes in bytes. */
const localModel = z.object({
  key: z.string(),
  /** What it does: writes answers, embeds, puts passages in order, writes down what is said, reads aloud. */
  kind: z.enum(['chat', 'embedding', 'rerank', 'hear', 'speak']),
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
  /** It is here, and its hash was that which somebody had told before. */
  checked: z.boolean(),
  /** Why the last try failed, in words for people. */
  error: z.string(),
});
export type LocalModel = z.output<typeof localModel>;

/** A model that Ollama is asked to bring. */
const ollamaPull = z.object({
  model: z.string(),
  state: z.enum(['pulling', 'done', 'failed']),
  /** What Ollama says it does. */
  status: z.string(),
  /** Of the layer that comes now; total 0: not known. */
  bytes: z.int(),
  total: z.int(),
  error: z.string(),
});
export type OllamaPull = z.output<typeof ollamaPull>;

/** Which Ollama, and a model as its library names it, such as qwen3:4b. */
const ofOllama = {
  base_url: text(200),
  model: text(200).check(
    z.regex(/^\w[\w.-]*(?:[/:]\w[\w.-]*)*$/, '应为 Ollama 的模型名，如 qwen3:4b'),
  ),
};

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
      /** The same of those that hear and speak. */
      speech_reason: z.string(),
      machine: z.object({
        memory: z.int(),
        memory_free: z.int(),
        disk_free: z.int(),
        processors: z.int(),
      }),
      mirrors: z.array(z.string()),
      /** Where a file may be put by hand. */
      folder: z.string(),
      /** Services that were found running on this machine, with their models by name and label. */
      found: z.array(
        z.object({
          label: z.string(),
          models: z.array(z.object({ name: z.string(), label: z.string() })),
        }),
      ),
      /** What Ollama on this machine has, and brings. */
      ollama: z.array(
        z.object({
          base_url: z.string(),
          models: z.array(z.string()),
          pulls: z.array(ollamaPull),
        }),
      ),
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
  pullOllama: call({
    method: 'POST',
    path: '/api/pull_ollama',
    access: 'owner',
    summary: '管理：让本机的 Ollama 拉一个模型，断了的接着拉',
    input: z.object(ofOllama),
    output: z.object({}),
    codes: ['manage_unsuitable', 'too_many_jobs'],
  }),
  stopOllama: call({
    method: 'POST',
    path: '/api/stop_ollama',
    access: 'owner',
    summary: '管理：不再让 Ollama 拉这个模型，或不再列出它',
    input: z.object(ofOllama),
    output: z.object({}),
  }),
};
