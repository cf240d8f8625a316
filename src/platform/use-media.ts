import { useSyncExternalStore } from 'react';

/** A mouse, and so a keyboard at hand. */
export const finePointer = '(hover: hover) and (pointer: fine)';

export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
