import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { ModelMissing } from './hear-model.ts';

/**
 * The configuration of a voice of sherpa-onnx, by the names of the files in its folder, as the
 * project's releases call them. @throws ModelMissing
 */
export const voiceModelIn = (folder: string): object => {
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    throw new ModelMissing('VOICE_MODEL_DIR 指的文件夹不存在或不能读');
  }
  files.sort((a, b) => Number(b.includes('int8')) - Number(a.includes('int8')));
  const at = (file: string) => path.join(folder, file);
  const find = (pattern: RegExp) => {
    const found = files.find((file) => pattern.test(file));
    return found === undefined ? undefined : at(found);
  };
  const every = (pattern: RegExp) =>
    files
      .filter((file) => pattern.test(file))
      .sort()
      .map(at)
      .join(',');
  const subfolder = (name: string) =>
    files.includes(name) && statSync(at(name)).isDirectory() ? at(name) : '';
  const tokens = find(/^tokens\.txt$/);
  const vocoder = find(/^(?:vocos|hifigan).*\.onnx$/);
  const model = files.find((file) => file.endsWith('.onnx') && at(file) !== vocoder);
  if (model === undefined)
    throw new ModelMissing('VOICE_MODEL_DIR 里没有模型（.onnx 文件），请放入 sherpa-onnx 的声音');
  if (!tokens) throw new ModelMissing('VOICE_MODEL_DIR 里没有 tokens.txt，请放入声音的全部文件');
  const words = {
    tokens,
    lexicon: every(/^lexicon.*\.txt$/),
    dictDir: subfolder('dict'),
    dataDir: subfolder('espeak-ng-data'),
  };
  const kind = () => {
    const kokoroVoices = find(/^voices\.bin$/);
    if (kokoroVoices) return { kokoro: { ...words, model: at(model), voices: kokoroVoices } };
    if (vocoder) return { matcha: { ...words, acousticModel: at(model), vocoder } };
    if (/matcha|model-steps/.test(`${folder} ${model}`))
      throw new ModelMissing('VOICE_MODEL_DIR 里没有声码器（vocos 或 hifigan 的 .onnx 文件）');
    return { vits: { ...words, model: at(model) } };
  };
  return { model: kind(), ruleFsts: every(/\.fst$/), maxNumSentences: 1 };
};
