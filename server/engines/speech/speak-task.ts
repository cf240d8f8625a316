/** What the thread that speaks is asked for; it gives MP3, piece by piece. */
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
  /** How many bytes its parts were. */
  answer: number;
}
