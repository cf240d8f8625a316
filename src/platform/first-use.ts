/** A page that nobody uses counts as used after so long, ms. */
const atRest = 5_000;

let used = false;
const waiting = new Set<() => void>();
const uses = ['pointerdown', 'keydown', 'input'] as const;

const begin = () => {
  used = true;
  for (const act of waiting) act();
  waiting.clear();
};

/**
 * Does something once somebody uses the page, at once if that was before, or once it has been at rest
 * for long: what people need next is not on the way before what they came for. Gives its cancel.
 */
export const onFirstUse = (act: () => void): (() => void) => {
  if (used) {
    act();
    return () => undefined;
  }
  if (waiting.size === 0) {
    for (const use of uses)
      addEventListener(use, begin, { once: true, capture: true, passive: true });
    setTimeout(begin, atRest);
  }
  waiting.add(act);
  return () => waiting.delete(act);
};
