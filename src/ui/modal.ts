import { useEffect, useRef, type RefObject } from 'react';

interface Watcher extends EventTarget {
  destroy: () => void;
}
declare global {
  interface Window {
    CloseWatcher?: new () => Watcher;
  }
}

let open = 0;

/**
 * What a browser does for a modal dialog and antd-mobile does not: the page behind is inert, focus
 * goes in and comes back, and Escape or the phone's back button closes.
 */
export const useModal = (
  visible: boolean,
  onClose: () => void,
  panel: RefObject<HTMLElement | null>,
) => {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    if (!visible) return undefined;
    const before = document.activeElement;
    const root = document.querySelector('#root');
    open += 1;
    root?.setAttribute('inert', '');
    // The library makes its body focusable one frame later.
    const frame = requestAnimationFrame(() => panel.current?.focus({ preventScroll: true }));
    const watcher = window.CloseWatcher ? new window.CloseWatcher() : undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') close.current();
    };
    if (watcher) watcher.addEventListener('close', () => close.current());
    else document.addEventListener('keydown', onKey);
    return () => {
      cancelAnimationFrame(frame);
      open -= 1;
      if (open === 0) root?.removeAttribute('inert');
      watcher?.destroy();
      document.removeEventListener('keydown', onKey);
      if (before instanceof HTMLElement && before.isConnected)
        before.focus({ preventScroll: true });
    };
  }, [visible, panel]);
};
