import { useState } from 'react';
import { attempt } from './attempt.ts';

/**
 * What a button does: `busy` from its press to its end.
 * @param failed says why it failed; left out where the call says so itself
 */
export const useAct = (failed?: (error: unknown) => void) => {
  const [busy, setBusy] = useState(false);
  const run = async (work: () => Promise<unknown>, said?: string): Promise<boolean> => {
    setBusy(true);
    try {
      return await attempt(work, said, failed);
    } finally {
      setBusy(false);
    }
  };
  return { busy, run };
};
