import type { Voices } from '#contract/speech.ts';
import { missingPackageIn } from '#server/optional-packages.ts';
import { workerUrl } from '#server/worker-url.ts';
import { createThreadWork } from '../thread-work.ts';
import { ModelMissing } from './hear-model.ts';
import { firstSentences, piecesOf } from './spoken-pieces.ts';
import type { SpeakJob } from './speak-task.ts';
import { SpeechEngineError, type SpeakEngine, type Spoken } from './speech-engine.ts';
import { voiceModelIn } from './voice-model.ts';

const unable = (why: string) =>
  new SpeechEngineError('engine_failed', `本机的朗读还不能用：${why}`, { retriable: false });

const inThread = createThreadWork<SpeakJob>({
  url: workerUrl('./speaking-worker.ts', import.meta.url),
  threads: 2,
  // Loading it takes three times as long as speaking.
  idleMs: 10 * 60_000,
  workMs: 60_000,
  failure: (why) => {
    const missing = missingPackageIn(why);
    return missing === null
      ? new SpeechEngineError('engine_failed', '朗读没有成功，请重试', {
          retriable: true,
          cause: new Error(why),
        })
      : unable(missing);
  },
});

/** As the specification of espeak-ng has them: a language, and a variant of its voice. */
const espeakVoices: Voices = {
  'cmn+f2': '普通话（女声）',
  'cmn+m3': '普通话（男声）',
  cmn: '普通话（标准）',
  'yue+f2': '粤语',
  'en+f3': '英语（女声）',
  en: '英语（男声）',
  'en-us': '美式英语',
};

/** Letters that are spoken without letting others have a turn. */
const atOnce = 300;

/** Nobody hears it: only after some words do the voice and the encoder run as fast as they can. */
const warming = '鹊桥通向许多模型，打开就能问，不注册也能用；今天是2026年，天气很好。'.repeat(3);

const mimeOf = (start: Buffer): Spoken['mime'] =>
  start.subarray(0, 4).toString('latin1') === 'RIFF' ? 'audio/wav' : 'audio/mpeg';

const speakWith = (folder: string, voices: Voices): SpeakEngine => ({
  voices: () => voices,
  prepare: async () => {
    const voice = Object.keys(voices)[0] ?? '';
    await inThread({ folder, pieces: [warming], voice, speed: 1 }, AbortSignal.timeout(30_000));
  },
  speak: async ({ text, voice, speed }, signal, onPart) => {
    const { heads, rest } = firstSentences(text);
    // An option is what begins so.
    const pieces = [...heads, ...piecesOf(rest, atOnce)].map((piece) =>
      piece.replace(/^[-\s]+/, ' '),
    );
    const parts: Buffer[] = [];
    const part = (made: Buffer) => {
      parts.push(made);
      onPart?.(made, mimeOf(parts[0] ?? made));
    };
    const bytes = await inThread({ folder, pieces, voice, speed }, signal, { part });
    if (bytes === 0)
      throw new SpeechEngineError('engine_failed', '这段文字里没有可以念的内容', {
        retriable: false,
        askerAtFault: true,
      });
    const data = Buffer.concat(parts);
    return { data, mime: mimeOf(data) };
  },
});

/** Speech without any service: espeak-ng as WebAssembly. */
export const createBuiltInSpeakEngine = (): SpeakEngine => speakWith('', espeakVoices);

/** Speech by sherpa-onnx with a voice in a folder; no service is needed. */
export const createLocalSpeakEngine = (
  folder: string,
  voices: Voices = { '0': '默认' },
  /** What the folder is called where something of it is missing. */
  called = 'VOICE_MODEL_DIR',
): SpeakEngine => {
  const engine = speakWith(folder, voices);
  return {
    ...engine,
    speak: async (order, signal, onPart) => {
      try {
        voiceModelIn(folder);
      } catch (error) {
        if (error instanceof ModelMissing)
          throw unable(error.message.replace('VOICE_MODEL_DIR', called));
        throw error;
      }
      return engine.speak(order, signal, onPart);
    },
  };
};
