import { useEffect, type RefObject } from 'react';
import type { ListHandle } from './message-list.tsx';

/**
 * Ctrl and an arrow: back, to the top, to the bottom; Escape stops the reply; an arrow up in the empty
 * box edits the last question.
 */
export const useKeys = (
  list: RefObject<ListHandle | null>,
  { back, stop, edit }: Record<'back' | 'stop' | 'edit', () => void>,
) => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const inert = document.querySelector('#root')?.hasAttribute('inert');
      if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented && !inert) stop();
      const box = event.target instanceof HTMLTextAreaElement ? event.target : null;
      const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
      if (event.key === 'ArrowUp' && plain && box?.value === '' && !event.defaultPrevented) {
        edit();
        return;
      }
      if (!event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (inert) return;
      // In a box with text, Ctrl+Left goes to the word before.
      if (event.key === 'ArrowLeft' && !box?.value) back();
      else if (event.key === 'ArrowUp') list.current?.toTop();
      else if (event.key === 'ArrowDown') list.current?.toBottom();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [list, back, stop, edit]);
};
