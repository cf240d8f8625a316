/**
 * A touch that is felt, where the device can (Android's browsers; iOS has no such call). Only ever
 * as the answer to a finger: a browser refuses it otherwise.
 */
const patterns = {
  /** A limit is passed, a menu opens under the finger. */
  tick: 8,
  /** Something was done. */
  done: [10, 40, 14],
} as const;

export const feel = (what: keyof typeof patterns): void => {
  if (!('vibrate' in navigator) || !navigator.userActivation.hasBeenActive) return;
  const pattern = patterns[what];
  navigator.vibrate(typeof pattern === 'number' ? pattern : [...pattern]);
};
