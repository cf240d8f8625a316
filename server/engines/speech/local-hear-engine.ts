import { missingPackageIn } from '#server/optional-packages.ts';
import { workerUrl } from '#server/worker-url.ts';
import { createThreadWork } from '../thread-work.ts';
import type { HearJob } from './hear-task.ts';
import { modelIn, ModelMissing } from './hear-model.ts';
import { SpeechEngineError, type HearEngine } from './speech-engine.ts';

const unable = (why: string) =>
  new SpeechEngineError('engine_failed', `本机的语音识别还不能用：${why}`, { retriable: false });

const inThread = createThreadWork<HearJob>({
  url: workerUrl('./hearing-worker.ts', import.meta.url),
  threads: 1,
  workMs: 5 * 60_000,
  failure: (why) => {
    const missing = missingPackageIn(why);
    return missing === null
      ? new SpeechEngineError('engine_failed', '本机的语音识别没有成功，请检查模型的文件', {
          retriable: true,
          cause: new Error(why),
        })
      : unable(missing);
  },
});

/** Recognition by sherpa-onnx with a model in a folder; no service is needed. */
export const createLocalHearEngine = (
  folder: string,
  /** What the folder is called where something of it is missing. */
  called = 'SPEECH_MODEL_DIR',
): HearEngine => ({
  hear: async ({ data }, signal) => {
    try {
      modelIn(folder);
    } catch (error) {
      if (error instanceof ModelMissing)
        throw unable(error.message.replace('SPEECH_MODEL_DIR', called));
      throw error;
    }
    return inThread({ folder, data }, signal);
  },
});
