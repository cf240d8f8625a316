import type { KeyboardEvent } from 'react';

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
};

/** Keys that a field has a use for itself. */
const isOwn = (target: EventTarget, key: string): boolean => {
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (!(target instanceof HTMLInputElement)) return false;
  if (target.type === 'range' || target.type === 'number') return true;
  return target.type !== 'checkbox' && key !== 'ArrowDown' && key !== 'ArrowUp';
};

/** Lets the arrow keys go through the buttons of a list; Home and End to its ends. */
export const moveByArrows = (event: KeyboardEvent<HTMLElement>): void => {
  if (event.defaultPrevented || event.nativeEvent.isComposing) return;
  if (isOwn(event.target, event.key)) return;
  const all = [
    ...event.currentTarget.querySelectorAll<HTMLElement>(
      'button:not(:disabled), a[href], input:not(:disabled, [hidden])',
    ),
  ];
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
