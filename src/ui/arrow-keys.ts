import type { KeyboardEvent } from 'react';

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Lets the arrow keys go through the buttons of a list; Home and End to its ends. */
export const moveByArrows = (event: KeyboardEvent<HTMLElement>): void => {
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('button, a[href], input')];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const step = steps[event.key];
  const next =
    event.key === 'Home'
      ? all[0]
      : event.key === 'End'
        ? all.at(-1)
        : step === undefined
          ? undefined
          : at < 0 && step < 0
            ? all.at(-1)
            : all[(at + step + all.length) % all.length];
  if (!next) return;
  event.preventDefault();
  next.focus();
};
