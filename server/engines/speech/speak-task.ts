/** What the thread that speaks is asked for; it gives MP3 piece by piece, or a WAV. */
export interface SpeakTask {
  /** Of a voice of sherpa-onnx; empty: espeak-ng. */
  folder: string;
  /** Spoken one after the other. */
  pieces: string[];
  /** As espeak-ng calls it; the number of a speaker of sherpa-onnx. */
  voice: string;
  /** 0.5 to 2. */
  speed: number;
}

export interface SpeakJob {
  task: SpeakTask;
  /** How many bytes its parts were. */
  answer: number;
}
