import type { Voices } from '../../../contract/speech.ts';
import { workerUrl } from '../../worker-url.ts';
import { createThreadWork } from '../thread-work.ts';
import { firstSentences, piecesOf } from './spoken-pieces.ts';
import type { SpeakJob } from './speak-task.ts';
import { SpeechEngineError, type SpeakEngine } from './speech-engine.ts';

const inThread = createThreadWork<SpeakJob>({
  url: workerUrl('./speaking-worker.ts', import.meta.url),
  threads: 2,
  // Loading it takes three times as long as speaking.
  idleMs: 10 * 60_000,
  workMs: 60_000,
  failure: (why) =>
    new SpeechEngineError('engine_failed', '朗读没有成功，请重试', {
      retriable: true,
      cause: new Error(why),
    }),
});

/** As the specification of espeak-ng has them: a language, and a variant of its voice. */
const voices: Voices = {
  'cmn+f2': '普通话（女声）',
  'cmn+m3': '普通话（男声）',
  cmn: '普通话（标准）',
  'yue+f2': '粤语',
  'en+f3': '英语（女声）',
  en: '英语（男声）',
  'en-us': '美式英语',
};

const mime = 'audio/mpeg';

/** Letters that are spoken without letting others have a turn. */
const atOnce = 300;

/** Nobody hears it: only after some words do the voice and the encoder run as fast as they can. */
const warming = '鹊桥通向许多模型，打开就能问，不注册也能用；今天是2026年，天气很好。'.repeat(3);

/** Speech without any service: espeak-ng as WebAssembly. */
export const createBuiltInSpeakEngine = (): SpeakEngine => ({
  voices: () => voices,
  prepare: async () => {
    await inThread({ pieces: [warming], voice: 'cmn+f2', speed: 1 }, AbortSignal.timeout(30_000));
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
      onPart?.(made, mime);
    };
    const bytes = await inThread({ pieces, voice, speed }, signal, { part });
    if (bytes === 0)
      throw new SpeechEngineError('engine_failed', '这段文字里没有可以念的内容', {
        retriable: false,
        askerAtFault: true,
      });
    return { data: Buffer.concat(parts), mime };
  },
});
