import { isInstalled, loadOptional } from '#server/optional-packages.ts';

/** Makes a file of samples, in parts as soon as each is there. */
export interface SoundWriter {
  add: (samples: Int16Array<ArrayBuffer>) => Promise<void>;
  /** Makes what is left. */
  end: () => Promise<void>;
  close: () => void;
}

type OnPart = (part: Uint8Array) => void;

const bitrate = 48_000;
/** Samples that are encoded at once. */
const step = 1152 * 40;

/** @throws PackageMissing */
const mp3Writer = async (sampleRate: number, onPart: OnPart): Promise<SoundWriter> => {
  const { AudioData, AudioEncoder } = await loadOptional('@napi-rs/webcodecs');
  let frames: Uint8Array[] = [];
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
    if (failure !== null) throw failure;
    if (frames.length === 0) return;
    const part = new Uint8Array(Buffer.concat(frames));
    frames = [];
    onPart(part);
  };
  /** The encoder works beside this thread, and is heard only while this one pauses. */
  const encoded = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  encoder.configure({ codec: 'mp3', sampleRate, numberOfChannels: 1, bitrate });
  let done = 0;
  return {
    add: async (samples) => {
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
      handOn();
    },
    end: async () => {
      await encoder.flush();
      handOn();
    },
    close: () => {
      if (encoder.state !== 'closed') encoder.close();
    },
  };
};

/** Of a WAV without further chunks. */
const headBytes = 44;

/** One part, as a WAV begins with its length. */
const wavWriter = (sampleRate: number, onPart: OnPart): SoundWriter => {
  const pieces: Int16Array[] = [];
  return {
    add: async (samples) => {
      pieces.push(samples);
    },
    end: async () => {
      const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
      if (bytes === 0) return;
      const wav = Buffer.alloc(headBytes + bytes);
      wav.write('RIFF', 0, 'latin1');
      wav.writeUInt32LE(headBytes - 8 + bytes, 4);
      wav.write('WAVEfmt ', 8, 'latin1');
      wav.writeUInt32LE(16, 16);
      // PCM of one channel.
      wav.writeUInt16LE(1, 20);
      wav.writeUInt16LE(1, 22);
      wav.writeUInt32LE(sampleRate, 24);
      wav.writeUInt32LE(sampleRate * 2, 28);
      wav.writeUInt16LE(2, 32);
      wav.writeUInt16LE(16, 34);
      wav.write('data', 36, 'latin1');
      wav.writeUInt32LE(bytes, 40);
      let at = headBytes;
      for (const { buffer, byteOffset, byteLength } of pieces) {
        wav.set(new Uint8Array(buffer, byteOffset, byteLength), at);
        at += byteLength;
      }
      onPart(new Uint8Array(wav));
    },
    close: () => {},
  };
};

/** MP3 where an encoder is installed, otherwise WAV. */
export const openSoundWriter = async (sampleRate: number, onPart: OnPart): Promise<SoundWriter> =>
  isInstalled('@napi-rs/webcodecs') ? mp3Writer(sampleRate, onPart) : wavWriter(sampleRate, onPart);
