import { limits } from '#contract/limits.ts';

/** Why a microphone can not be used; its message is for people. */
export class MicrophoneError extends Error {}

const { sampleRate, buffer } = limits.speech;

/** Bytes of a WAV's head, and of the form around it. */
const around = 4096;
/** A recording is put into words up to so many seconds: by its length, and by its bytes of 16 bits a sample. */
export const longestRecording = Math.min(
  limits.speech.seconds,
  Math.floor((limits.speech.fileBytes - around) / (sampleRate * 2)),
);

/** Safari, whose buffers are smaller and which wants one press for the microphone and one to record. */
export const isSafari = (): boolean =>
  /^((?!chrome|android|crios|fxios).)*safari/i.test(navigator.userAgent);

/** A recording that runs. */
export interface Recording {
  /** How loud it is now, 0 to 1. */
  level: () => number;
  /** Ends it, gives its sound as WAV and lets the microphone go. */
  stop: () => Promise<Blob>;
  /** Ends it without a sound. */
  cancel: () => void;
}

/** @throws MicrophoneError */
export const openMicrophone = async (): Promise<MediaStream> => {
  // Pages that are not secure have none at all.
  const devices = (navigator as { mediaDevices?: MediaDevices }).mediaDevices;
  if (!devices?.getUserMedia) throw new MicrophoneError('此浏览器不支持 WebRTC getUserMedia API。');
  try {
    return await devices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true },
    });
  } catch (error) {
    // eslint-disable-next-line no-console -- The notice sends people there.
    console.error(error);
    throw new MicrophoneError('无法捕获您的麦克风。请检查控制台日志。');
  }
};

export const release = (stream: MediaStream): void => {
  for (const track of stream.getTracks()) track.stop();
};

let hasRecorded = false;
/** The press that was asked about the microphone does not count as one that begins. */
export const wantsAnotherPress = (): boolean => isSafari() && !hasRecorded;

/** After so long what was recorded since is given away in a piece, ms. */
const pieceMs = 1_000;

/** A sound that is not let through by then takes another press, ms. */
const letThroughMs = 400;

/** Sound passes only where the browser takes it for wanted: after a press. */
const letsThrough = async (context: AudioContext): Promise<boolean> => {
  const late = new Promise((resolve) => {
    setTimeout(resolve, letThroughMs);
  });
  await Promise.race([context.resume().catch(() => undefined), late]);
  return context.state === 'running';
};

/**
 * Records from an open microphone, which it lets go at its end. Null: the browser wants another
 * press; the microphone stays open.
 * @param onPiece gets each second of it, as WAV
 */
export const record = async (
  stream: MediaStream,
  { pressedAgain, onPiece }: { pressedAgain: boolean; onPiece: (piece: Blob) => void },
): Promise<Recording | null> => {
  const { default: RecordRTC } = await import('recordrtc');
  const context = new AudioContext();
  if (!(await letsThrough(context)) && !pressedAgain) {
    void context.close();
    return null;
  }
  // A piece may still be on its way when the whole is there.
  let ended = false;
  const recorder = new RecordRTC(stream, {
    type: 'audio',
    mimeType: 'audio/wav',
    recorderType: RecordRTC.StereoAudioRecorder,
    numberOfAudioChannels: 1,
    sampleRate,
    desiredSampRate: sampleRate,
    bufferSize: isSafari() ? buffer.safari : buffer.usual,
    disableLogs: true,
    timeSlice: pieceMs,
    ondataavailable: (piece: Blob) => {
      if (!ended) onPiece(piece);
    },
  });
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Uint8Array(analyser.fftSize);
  const leave = () => {
    release(stream);
    void context.close();
    recorder.destroy();
  };
  recorder.startRecording();
  hasRecorded = true;
  return {
    level: () => {
      analyser.getByteTimeDomainData(samples);
      let most = 0;
      for (const sample of samples) most = Math.max(most, Math.abs(sample - 128));
      return Math.min(1, most / 90);
    },
    stop: () =>
      new Promise((resolve) => {
        ended = true;
        recorder.stopRecording(() => {
          const sound = recorder.getBlob();
          leave();
          resolve(sound);
        });
      }),
    cancel: () => {
      ended = true;
      recorder.stopRecording(leave);
    },
  };
};
