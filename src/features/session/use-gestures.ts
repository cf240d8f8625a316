import type { GestureActs } from './gesture-acts.ts';
import { useEffect, useRef, type RefObject } from 'react';

/** Swipes on cards and pulling down, on touch screens; the code comes with the first touch. */
export const useGestures = (screen: RefObject<HTMLElement | null>, acts: GestureActs): void => {
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  });
  useEffect(() => {
    const root = screen.current;
    if (!root) return undefined;
    let end: (() => void) | undefined;
    let gone = false;
    const onFirst = (first: TouchEvent) => {
      // A tap has ended before the code is there: it must not count as a finger that rests.
      const lift = new AbortController();
      for (const name of ['touchend', 'touchcancel'])
        addEventListener(name, () => lift.abort(), { once: true, passive: true });
      const begin = async () => {
        const { watchGestures } = await import('./gestures.ts');
        if (!gone) end = watchGestures(root, latest, lift.signal.aborted ? null : first);
      };
      // Out of reach, everything is still in the menus.
      begin().catch(() => undefined);
    };
    root.addEventListener('touchstart', onFirst, { passive: true, once: true });
    return () => {
      gone = true;
      root.removeEventListener('touchstart', onFirst);
      end?.();
    };
  }, [screen]);
};
