import { isCommandKey } from '#src/platform/command-key.ts';
import { useEffect, useRef } from 'react';

/** Ctrl+K (⌘K) leads to a search field where no side menu offers the command palette. */
export const useFindKey = (focus: () => void): void => {
  const latest = useRef(focus);
  useEffect(() => {
    latest.current = focus;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || event.shiftKey || !isCommandKey(event)) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
};
