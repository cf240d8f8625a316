/** What the thread that speaks is asked for; it gives MP3. */
export interface SpeakTask {
  /** Spoken one after the other. */
  pieces: string[];
  /** As espeak-ng calls it. */
  voice: string;
  /** 0.5 to 2. */
  speed: number;
}

export interface SpeakJob {
  task: SpeakTask;
  answer: Uint8Array;
}
