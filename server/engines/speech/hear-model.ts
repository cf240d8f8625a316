import { readdirSync } from 'node:fs';
import path from 'node:path';

/** What of a model of sherpa-onnx is not there, for people. */
export class ModelMissing extends Error {}

/** The files of a model, by what their names say; smaller ones (int8) first. @throws ModelMissing */
export const modelIn = (folder: string): object => {
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    throw new ModelMissing('SPEECH_MODEL_DIR 指的文件夹不存在或不能读');
  }
  files.sort((a, b) => Number(b.includes('int8')) - Number(a.includes('int8')));
  const find = (pattern: RegExp) => {
    const found = files.find((file) => pattern.test(file));
    return found === undefined ? undefined : path.join(folder, found);
  };
  const tokens = find(/tokens\.txt$/);
  const encoder = find(/encoder.*\.onnx$/);
  const decoder = find(/decoder.*\.onnx$/);
  const joiner = find(/joiner.*\.onnx$/);
  const whole = find(/^model.*\.onnx$/) ?? find(/\.onnx$/);
  if (!whole)
    throw new ModelMissing('SPEECH_MODEL_DIR 里没有模型（.onnx 文件），请放入 sherpa-onnx 的模型');
  if (!tokens) throw new ModelMissing('SPEECH_MODEL_DIR 里没有 tokens.txt，请放入模型的全部文件');
  if (encoder && decoder && joiner) return { transducer: { encoder, decoder, joiner }, tokens };
  if (encoder && decoder) return { whisper: { encoder, decoder }, tokens };
  if (encoder)
    throw new ModelMissing('SPEECH_MODEL_DIR 里只有 encoder，没有 decoder，请放入模型的全部文件');
  if (/paraformer/i.test(`${folder} ${whole}`)) return { paraformer: { model: whole }, tokens };
  return { senseVoice: { model: whole, useInverseTextNormalization: 1 }, tokens };
};
