import { useEffect, type RefObject } from 'react';
import type { ListHandle } from './message-list.tsx';

/** Ctrl and an arrow: back, to the top, to the bottom; Escape stops the reply. */
export const useKeys = (list: RefObject<ListHandle | null>, back: () => void, stop: () => void) => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const inert = document.querySelector('#root')?.hasAttribute('inert');
      if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented && !inert) stop();
      if (!event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (inert) return;
      const area = event.target instanceof HTMLTextAreaElement ? event.target : null;
      // In a box with text, Ctrl+Left goes to the word before.
      if (event.key === 'ArrowLeft' && !area?.value) back();
      else if (event.key === 'ArrowUp') list.current?.toTop();
      else if (event.key === 'ArrowDown') list.current?.toBottom();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [list, back, stop]);
};
