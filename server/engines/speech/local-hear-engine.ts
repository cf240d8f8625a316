import { workerUrl } from '../../worker-url.ts';
import { createThreadWork } from '../thread-work.ts';
import type { HearJob } from './hear-task.ts';
import { SpeechEngineError, type HearEngine } from './speech-engine.ts';

const inThread = createThreadWork<HearJob>({
  url: workerUrl('./hearing-worker.ts', import.meta.url),
  threads: 1,
  workMs: 5 * 60_000,
  failure: (why) =>
    new SpeechEngineError('engine_failed', '本机的语音识别没有成功，请检查 SPEECH_MODEL_DIR', {
      retriable: true,
      cause: new Error(why),
    }),
});

/** Recognition by sherpa-onnx with a model in a folder; no service is needed. */
export const createLocalHearEngine = (folder: string): HearEngine => ({
  hear: ({ data }, signal) => inThread({ folder, data }, signal),
});
