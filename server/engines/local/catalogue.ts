/** The models on the shelf: small ones that do their work on an ordinary machine without a graphics card. */

/** Writes answers; turns texts into vectors; puts what was found in order; writes down what is said; reads aloud. */
export type ShelfKind = 'chat' | 'embedding' | 'rerank' | 'hear' | 'speak';

export interface ShelfEntry {
  /** Of the model, also in `LOCAL_MODEL`. */
  key: string;
  kind: ShelfKind;
  label: string;
  /** Of the file below the folder of models, and at the mirrors. */
  file: string;
  /** `owner/name` at the mirrors. */
  repository: string;
  /** An address that is tried after the mirrors; `{file}` is filled in. */
  besides?: string;
  /** Of an archive: bytes that come out of it, about. */
  unpacked?: number;
  /** Of one that reads aloud: the names of its voices by their numbers, the usual one first. */
  voices?: Readonly<Record<string, string>>;
  /** Bytes of the file, exactly. */
  size: number;
  /** SHA-256 of the file, hex; empty: nobody told us, the mirror may. */
  sha256: string;
  /** Memory that it takes while it works, bytes, about. */
  memory: number;
  licence: string;
  languages: string;
  /** What a question is put behind before it is turned into a vector; passages go as they are. */
  question?: string;
}

const MB = 1024 * 1024;

export const usualShelf: readonly ShelfEntry[] = [
  {
    key: 'qwen3-0.6b',
    kind: 'chat',
    label: 'Qwen3 0.6B',
    file: 'Qwen3-0.6B-Q8_0.gguf',
    repository: 'Qwen/Qwen3-0.6B-GGUF',
    size: 639_446_688,
    sha256: '9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031',
    memory: 1200 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
  {
    key: 'qwen3-1.7b',
    kind: 'chat',
    label: 'Qwen3 1.7B',
    file: 'Qwen3-1.7B-Q8_0.gguf',
    repository: 'Qwen/Qwen3-1.7B-GGUF',
    size: 1_834_426_016,
    sha256: '061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a',
    memory: 2600 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
  {
    key: 'qwen3-4b',
    kind: 'chat',
    label: 'Qwen3 4B',
    file: 'Qwen3-4B-Q4_K_M.gguf',
    repository: 'Qwen/Qwen3-4B-GGUF',
    size: 2_497_280_256,
    sha256: '7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5',
    memory: 3600 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
  {
    key: 'bge-small-zh-v1.5',
    kind: 'embedding',
    label: 'BGE small 中文 v1.5',
    file: 'bge-small-zh-v1.5-f16.gguf',
    repository: 'CompendiumLabs/bge-small-zh-v1.5-gguf',
    size: 47_886_240,
    sha256: 'ab9b81d9cd329c712eee379cf0068eabe6a5e2a01d0def61535eba9384085e2c',
    memory: 200 * MB,
    licence: 'MIT',
    languages: '中文',
    question: '为这个句子生成表示以用于检索相关文章：',
  },
  {
    key: 'qwen3-embedding-0.6b',
    kind: 'embedding',
    label: 'Qwen3 Embedding 0.6B',
    file: 'Qwen3-Embedding-0.6B-Q8_0.gguf',
    repository: 'Qwen/Qwen3-Embedding-0.6B-GGUF',
    size: 639_150_592,
    sha256: '06507c7b42688469c4e7298b0a1e16deff06caf291cf0a5b278c308249c3e439',
    memory: 1100 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
    question:
      'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
  },
  {
    key: 'bge-reranker-v2-m3',
    kind: 'rerank',
    label: 'BGE reranker v2 m3',
    file: 'bge-reranker-v2-m3-Q8_0.gguf',
    repository: 'gpustack/bge-reranker-v2-m3-GGUF',
    size: 635_676_416,
    sha256: 'a43c7c9b11a4c1517e5bf95151960e1621d1b72f7a493364b01e386cf1aaa1d3',
    memory: 1000 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文等一百多种',
  },
  {
    key: 'sense-voice-small',
    kind: 'hear',
    label: 'SenseVoice small',
    file: 'sherpa-onnx-sense-voice-zh-en-ja-ko-yue-int8-2024-07-17.tar.bz2',
    repository: 'csukuangfj/asr-models',
    besides: 'https://github.com/k2-fsa/sherpa-onnx/releases/download/asr-models/{file}',
    size: 163_002_883,
    sha256: '7d1efa2138a65b0b488df37f8b89e3d91a60676e416f515b952358d83dfd347e',
    unpacked: 245 * MB,
    memory: 600 * MB,
    licence: 'FunASR 模型许可',
    languages: '中文、粤语、英文、日文、韩文',
  },
  {
    key: 'kokoro-zh',
    kind: 'speak',
    label: 'Kokoro 82M 中文',
    file: 'kokoro-int8-multi-lang-v1_1.tar.bz2',
    repository: 'csukuangfj/tts-models',
    besides: 'https://github.com/k2-fsa/sherpa-onnx/releases/download/tts-models/{file}',
    size: 147_031_220,
    sha256: 'a1e94694776049035c4f2c6529f003aaece993c76aae9a78995831c3c4dcafc6',
    unpacked: 221 * MB,
    memory: 700 * MB,
    licence: 'Apache-2.0',
    languages: '中文、英文',
    voices: { '3': '女声', '58': '男声' },
  },
];

/** Where models are asked for, in this order; `{repository}` and `{file}` are filled in. */
export const usualMirrors: readonly string[] = [
  'https://www.modelscope.cn/models/{repository}/resolve/master/{file}',
  'https://hf-mirror.com/{repository}/resolve/main/{file}',
  'https://huggingface.co/{repository}/resolve/main/{file}',
];
