import { useCallback, useEffect, useRef } from 'react';

/** How often what is being written is kept, ms (document 3 §9). */
const draftEvery = 1_000;

/**
 * Hands what is typed to `keep` each second, and when its place is left or the page put away.
 * @param keep stays the same from drawing to drawing while it keeps in the same place
 */
export const useKeepEachSecond = <T extends string | object>(keep: (typed: T) => void) => {
  /** What was typed since it was last kept. */
  const unkept = useRef<T | null>(null);
  useEffect(() => {
    const keepNow = () => {
      if (unkept.current !== null) keep(unkept.current);
      unkept.current = null;
    };
    const timer = setInterval(keepNow, draftEvery);
    // Whoever closes it in the middle of a word finds that word again.
    addEventListener('pagehide', keepNow);
    return () => {
      clearInterval(timer);
      removeEventListener('pagehide', keepNow);
      keepNow();
    };
  }, [keep]);
  return {
    note: useCallback((typed: T) => {
      unkept.current = typed;
    }, []),
    forget: useCallback(() => {
      unkept.current = null;
    }, []),
  };
};
