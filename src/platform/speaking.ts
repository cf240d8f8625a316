import { createStore, useStore } from './store.ts';

/** A reply that is read aloud while one reads on. */
export interface Spoken {
  historyId: number;
  /** Markdown. */
  text: string;
}

const speaking = createStore<Spoken | null>(null);

/** Reads a reply aloud; its player stands over every screen until it is closed. */
export const readAloud = (spoken: Spoken): void => speaking.set(spoken);
export const stopReading = (): void => speaking.set(null);
export const useSpoken = (): Spoken | null => useStore(speaking);
