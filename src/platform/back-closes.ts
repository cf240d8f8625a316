/**
 * Back closes what lies over the page, where the browser has no CloseWatcher (iPhones). An entry of
 * the history, a copy of the page's own, stands for all that lies over it. The router does not hear
 * of it: the address is the same. Closed in another way it stays, and going back leads past it.
 */

const mark = 'queqiaoOver';
/** How long something that was asked to close may take to go, ms. */
const closing = 60;

const layers: (() => void)[] = [];
/** The entry that the page stands at: whether it is such a copy, and of which address. */
let over = false;
let address = '';
const look = (): void => {
  over = (history.state as Record<string, unknown> | null)?.[mark] !== undefined;
  address = location.href;
};

const push = (): void => {
  look();
  if (over) return;
  const state = { ...(history.state as object | null), [mark]: 1 };
  // Not by the history's own method: the router takes that for a way to somewhere.
  History.prototype.pushState.call(history, state, '', location.href);
  look();
};

const onMove = (event: PopStateEvent): void => {
  const [wasOver, former] = [over, address];
  look();
  if (!wasOver || over || former !== address) return;
  event.stopImmediatePropagation();
  const top = layers.at(-1);
  if (!top) {
    // Nobody wants to go back to where they are.
    history.back();
    return;
  }
  top();
  // Others may lie below it, and one that asks before it closes stays.
  setTimeout(() => {
    if (layers.length > 0) push();
  }, closing);
};

let listening = false;
const listen = (): void => {
  listening = true;
  addEventListener('popstate', onMove, { capture: true });
  for (const name of ['pushState', 'replaceState'] as const) {
    const act = history[name].bind(history);
    history[name] = (...given) => {
      act(...given);
      look();
    };
  }
};

/** Has back call `close` from now on, unless something was opened later; gives what ends that. */
export const closeOnBack = (close: () => void): (() => void) => {
  if (!listening) listen();
  layers.push(close);
  push();
  return () => {
    layers.splice(layers.lastIndexOf(close), 1);
  };
};
