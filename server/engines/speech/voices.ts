import { availableParallelism } from 'node:os';
import { loadOptional } from '#server/optional-packages.ts';
import { voiceModelIn } from './voice-model.ts';

/** What makes sound of words, one voice at a time. */
export interface Voice {
  sampleRate: number;
  /** 16-bit samples of one channel. */
  say: (text: string, order: { voice: string; speed: number }) => Promise<Int16Array<ArrayBuffer>>;
}

/** Of espeak-ng's WAV: one channel of 16 bits. */
const espeak = { sampleRate: 22_050, headBytes: 44 };
/** Words a minute at the speed 1; handed on as text, for a number is not understood. */
const usualPace = 175;

/** It would compile itself anew for every text, which takes as long as speaking a sentence. */
const compileOnce = (): void => {
  const assembly = (
    globalThis as unknown as {
      WebAssembly: {
        compile: (code: Uint8Array) => Promise<object>;
        instantiate: (module: object, imports: unknown) => Promise<object>;
      };
    }
  ).WebAssembly;
  const instantiate = assembly.instantiate.bind(assembly);
  let compiled: Promise<object> | null = null;
  Object.assign(assembly, {
    instantiateStreaming: undefined,
    instantiate: async (code: Uint8Array, imports: unknown) => {
      compiled ??= assembly.compile(code);
      const module = await compiled;
      return { module, instance: await instantiate(module, imports) };
    },
  });
};

/** espeak-ng as WebAssembly, by rules. @throws PackageMissing */
export const openEspeak = async (): Promise<Voice> => {
  const text2wav = await loadOptional('text2wav');
  // What it says of how it is loaded is of no use.
  Object.assign(console, { warn: () => {} });
  compileOnce();
  return {
    sampleRate: espeak.sampleRate,
    say: async (text, { voice, speed }) => {
      try {
        const wav = await text2wav(text, { voice, speed: String(Math.round(usualPace * speed)) });
        const { buffer } = wav.slice(espeak.headBytes);
        return new Int16Array(buffer, 0, (wav.length - espeak.headBytes) >> 1);
      } finally {
        // What it does about errors of the process is not its business.
        process.removeAllListeners('uncaughtException');
        process.removeAllListeners('unhandledRejection');
      }
    },
  };
};

/** A voice of sherpa-onnx; its speakers are numbers. @throws PackageMissing, ModelMissing */
export const openSherpaVoice = async (folder: string): Promise<Voice> => {
  const { OfflineTts } = await loadOptional('sherpa-onnx-node');
  const { model, ...rest } = voiceModelIn(folder) as { model: object };
  const numThreads = Math.min(4, availableParallelism());
  const tts = new OfflineTts({ ...rest, model: { ...model, numThreads, provider: 'cpu' } });
  return {
    sampleRate: tts.sampleRate,
    say: async (text, { voice, speed }) => {
      const sid = Number.parseInt(voice, 10) || 0;
      const { samples } = tts.generate({ text, sid, speed, enableExternalBuffer: false });
      return Int16Array.from(samples, (sample) =>
        Math.round(Math.max(-1, Math.min(1, sample)) * 32_767),
      );
    },
  };
};
