import { deviceSpeaks } from './device-speech.ts';
import { prepareVoice } from './read-sound.ts';

/** The server keeps its voice ready for so long, ms. */
const readyMs = 5 * 60_000;
let last = -Infinity;

/**
 * Loads what reading aloud takes, the server's own voice included where it is the one that will
 * read. `saved`: who reads by the person's settings; empty: nobody was chosen.
 */
export const getVoiceReady = (saved: string): void => {
  if (performance.now() - last < readyMs) return;
  last = performance.now();
  void import('./player-bar.tsx');
  if (saved === '' ? !deviceSpeaks() : saved.startsWith('builtin-'))
    void prepareVoice(saved || 'builtin-voice');
};
