import { isCommandKey, paletteAsked } from '#src/platform/command-key.ts';
import { useEffect, useRef } from 'react';

export type CommandKey = 'palette' | 'new' | 'keys';

export const commandOf = ({
  key,
  shiftKey,
}: Pick<KeyboardEvent, 'key' | 'shiftKey'>): CommandKey | null => {
  const letter = key.toLowerCase();
  if (letter === 'k' && !shiftKey) return 'palette';
  if (letter === 'o' && shiftKey) return 'new';
  return key === '/' ? 'keys' : null;
};

/** Ctrl or ⌘ with K, Shift+O and /, wherever one is; not over a dialog. */
export const useCommandKeys = (run: (command: CommandKey) => void): void => {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const command = isCommandKey(event) ? commandOf(event) : null;
      if (command === null) return;
      event.preventDefault();
      latest.current(command);
    };
    const onAsk = () => latest.current('palette');
    addEventListener('keydown', onKey);
    addEventListener(paletteAsked, onAsk);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener(paletteAsked, onAsk);
    };
  }, []);
};
