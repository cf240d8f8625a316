import { useRef, useState } from 'react';

/**
 * For what is pressed: `once` begins it, and nothing a second time while it is under way. It stays
 * enabled meanwhile, so that the focus stays on it.
 */
export const useOnce = () => {
  const begun = useRef(false);
  const [busy, setBusy] = useState(false);
  const end = () => {
    begun.current = false;
    setBusy(false);
  };
  const once = (begin: () => unknown): void => {
    if (begun.current) return;
    const work = begin();
    if (!(work instanceof Promise)) return;
    begun.current = true;
    setBusy(true);
    // Whoever began it tells of its failure.
    work.then(end, end);
  };
  return { busy, once };
};
