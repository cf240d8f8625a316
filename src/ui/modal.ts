import { closeOnBack } from '#src/platform/back-closes.ts';
import { createStore } from '#src/platform/store.ts';
import { useEffect, useRef, type RefObject } from 'react';

interface Watcher extends EventTarget {
  destroy: () => void;
}
declare global {
  interface Window {
    CloseWatcher?: new () => Watcher;
  }
}

/** What closes each of the open ones, the topmost last. */
const stack: { close: () => void }[] = [];
let watcher: Watcher | null = null;

/** How many of the open ones cover the page; a menu beside what was pressed does not. */
export const veils = createStore(0);

const closeTop = () => stack.at(-1)?.close();

/**
 * Asks the browser for its next Escape or way back. It gives a watcher one of them: what is still
 * open afterwards, because it went back a step or asked first, needs a new one.
 */
const watch = () => {
  if (!window.CloseWatcher || watcher || stack.length === 0) return;
  const fresh = new window.CloseWatcher();
  watcher = fresh;
  fresh.addEventListener('close', () => {
    if (watcher === fresh) watcher = null;
    closeTop();
    watch();
  });
};

const onKey = (event: KeyboardEvent) => {
  if (event.key === 'Escape' && !event.isComposing && !window.CloseWatcher) closeTop();
};

/**
 * What a browser does for a modal dialog and antd-mobile does not: the page behind is inert, focus
 * goes in (to what is marked `data-autofocus`) and comes back, and Escape or the phone's back button closes the topmost.
 */
export const useModal = (
  visible: boolean,
  onClose: () => void,
  panel: RefObject<HTMLElement | null>,
  covers = true,
) => {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    if (!visible) return undefined;
    const before = document.activeElement;
    const root = document.querySelector('#root');
    const one = { close: () => close.current() };
    stack.push(one);
    if (stack.length === 1) document.addEventListener('keydown', onKey);
    watch();
    if (covers) veils.set(veils.get() + 1);
    root?.setAttribute('inert', '');
    // The library makes its body focusable one frame later; a field within may have the focus by then.
    const frame = requestAnimationFrame(() => {
      const { current } = panel;
      if (!current || current.contains(document.activeElement)) return;
      const field = current.querySelector<HTMLElement>('[data-autofocus]');
      (field ?? current).focus({ preventScroll: true });
    });
    const leaveHistory = window.CloseWatcher ? undefined : closeOnBack(() => close.current());
    return () => {
      leaveHistory?.();
      cancelAnimationFrame(frame);
      if (covers) veils.set(veils.get() - 1);
      stack.splice(stack.indexOf(one), 1);
      if (stack.length === 0) {
        root?.removeAttribute('inert');
        document.removeEventListener('keydown', onKey);
        watcher?.destroy();
        watcher = null;
      }
      if (before instanceof HTMLElement && before.isConnected)
        before.focus({ preventScroll: true });
    };
  }, [visible, panel, covers]);
};
