import { AudioData, AudioEncoder } from '@napi-rs/webcodecs';
import { serveThread, type ThreadIo } from '../thread-work.ts';
import type { SpeakJob, SpeakTask } from './speak-task.ts';

/** Speaks, so that nothing else in the server stands still meanwhile. */

const { default: speakWords } = await import('text2wav');
const text2wav = speakWords as unknown as (
  text: string,
  options: { voice: string; speed: string },
) => Promise<Uint8Array>;

// What it says of how it is loaded is of no use, and what it does about errors is not its business.
Object.assign(console, { warn: () => {} });

// It would compile itself anew for every text, which takes as long as speaking a sentence.
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

const speakAlone = async (text: string, options: { voice: string; speed: string }) => {
  try {
    return await text2wav(text, options);
  } finally {
    process.removeAllListeners('uncaughtException');
    process.removeAllListeners('unhandledRejection');
  }
};

/** Of its WAV: one channel of 16 bits. */
const sampleRate = 22_050;
const headBytes = 44;
const bitrate = 48_000;
/** Words a minute at the speed 1; handed on as text, for a number is not understood. */
const usualPace = 175;
/** Samples that are encoded at once. */
const step = 1152 * 40;

const speak = async ({ pieces, voice, speed }: SpeakTask, io: ThreadIo): Promise<number> => {
  let frames: Uint8Array[] = [];
  let bytes = 0;
  let failure: unknown = null;
  let wake = () => {};
  const encoder = new AudioEncoder({
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      frames.push(bytes);
    },
    error: (error) => {
      failure = error;
      wake();
    },
  });
  encoder.ondequeue = () => wake();
  const handOn = () => {
    if (frames.length === 0) return;
    const part = new Uint8Array(Buffer.concat(frames));
    frames = [];
    bytes += part.length;
    io.part(part);
  };
  /** The encoder works beside this thread, and is heard only while this one pauses. */
  const encoded = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  encoder.configure({ codec: 'mp3', sampleRate, numberOfChannels: 1, bitrate });
  let done = 0;
  try {
    for (const piece of pieces) {
      const wav = await speakAlone(piece, { voice, speed: String(Math.round(usualPace * speed)) });
      const samples = new Int16Array(wav.slice(headBytes).buffer, 0, (wav.length - headBytes) >> 1);
      for (let from = 0; from < samples.length; from += step) {
        const data = samples.slice(from, from + step);
        const sound = new AudioData({
          format: 's16',
          sampleRate,
          numberOfFrames: data.length,
          numberOfChannels: 1,
          timestamp: Math.round(((done + from) / sampleRate) * 1e6),
          data,
        });
        encoder.encode(sound);
        sound.close();
      }
      // Somebody waits for the first.
      if (done === 0 && samples.length > 0) await encoded();
      done += samples.length;
      await io.turn();
      if (failure !== null) throw failure;
      handOn();
    }
    await encoder.flush();
    if (failure !== null) throw failure;
    handOn();
  } finally {
    if (encoder.state !== 'closed') encoder.close();
  }
  return bytes;
};

serveThread<SpeakJob>(speak);
