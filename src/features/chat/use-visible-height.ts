import { useEffect, type RefObject } from 'react';

/**
 * Makes the element as tall as what the keyboard leaves. Browsers that shrink the page themselves
 * need nothing of it; on iOS the keyboard lies over the page.
 */
export const useVisibleHeight = (box: RefObject<HTMLElement | null>) => {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return undefined;
    const fit = () => {
      // Two fingers that enlarge the page are no keyboard.
      const covered = viewport.scale < 1.05 && window.innerHeight - viewport.height > 80;
      box.current?.style.setProperty('height', covered ? `${viewport.height}px` : '');
      if (covered) window.scrollTo(0, 0);
    };
    viewport.addEventListener('resize', fit);
    return () => viewport.removeEventListener('resize', fit);
  }, [box]);
};
