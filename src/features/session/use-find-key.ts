import { useEffect, useRef } from 'react';

/** Ctrl+K (⌘K) leads to a search field where no side menu offers the command palette. */
export const useFindKey = (focus: () => void): void => {
  const latest = useRef(focus);
  useEffect(() => {
    latest.current = focus;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.key.toLowerCase() !== 'k') return;
      if (event.ctrlKey === event.metaKey || event.altKey || event.shiftKey) return;
      // A dialog is open.
      if (document.querySelector('#root')?.hasAttribute('inert')) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
};
