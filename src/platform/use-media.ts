import { useSyncExternalStore } from 'react';

/** From 750 px there is a side menu; below, a bottom bar (document 1 §2). */
export const wideEnoughForMenu = '(min-width: 750px)';
/** From 1680 px there are three columns. */
export const wideEnoughForRecents = '(min-width: 1680px)';

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
