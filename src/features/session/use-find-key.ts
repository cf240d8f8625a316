import { useEffect, useRef } from 'react';

/**
 * Ctrl+K (⌘K) leads to a search field.
 * @param first this field comes before those that did not ask for it
 */
export const useFindKey = (focus: () => void, first = false): void => {
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
    addEventListener('keydown', onKey, { capture: first });
    return () => removeEventListener('keydown', onKey, { capture: first });
  }, [first]);
};
