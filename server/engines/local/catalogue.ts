/** The models on the shelf: small ones that answer on an ordinary machine without a graphics card. */

export interface ShelfEntry {
  /** Of the model, also in `LOCAL_MODEL`. */
  key: string;
  label: string;
  /** Of the file below the folder of models, and at the mirrors. */
  file: string;
  /** `owner/name` at the mirrors. */
  repository: string;
  /** Bytes, about. */
  size: number;
  /** Memory that it takes while it answers, bytes, about. */
  memory: number;
  licence: string;
  languages: string;
}

const MB = 1024 * 1024;

export const shelf: readonly ShelfEntry[] = [
  {
    key: 'qwen3-0.6b',
    label: 'Qwen3 0.6B',
    file: 'Qwen3-0.6B-Q8_0.gguf',
    repository: 'Qwen/Qwen3-0.6B-GGUF',
    size: 610 * MB,
    memory: 1200 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
  {
    key: 'qwen3-1.7b',
    label: 'Qwen3 1.7B',
    file: 'Qwen3-1.7B-Q8_0.gguf',
    repository: 'Qwen/Qwen3-1.7B-GGUF',
    size: 1750 * MB,
    memory: 2600 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
  {
    key: 'qwen3-4b',
    label: 'Qwen3 4B',
    file: 'Qwen3-4B-Q4_K_M.gguf',
    repository: 'Qwen/Qwen3-4B-GGUF',
    size: 2385 * MB,
    memory: 3600 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
];

/** Where models are asked for, in this order; `{repository}` and `{file}` are filled in. */
export const usualMirrors: readonly string[] = [
  'https://www.modelscope.cn/models/{repository}/resolve/master/{file}',
  'https://hf-mirror.com/{repository}/resolve/main/{file}',
  'https://huggingface.co/{repository}/resolve/main/{file}',
];
