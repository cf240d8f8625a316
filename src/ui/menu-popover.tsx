import { lastPress } from '#src/platform/last-press.ts';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { moveByArrows } from './arrow-keys.ts';
import { useModal } from './modal.ts';
import type { SheetProps } from './sheet-props.ts';
import css from './menu-popover.module.css';

/** Between the menu and its button, and between the menu and the window's edge, px. */
const gap = 6;
const edge = 8;

/** Below the button or, where there is no room, above it; within the window in any case. */
const place = (menu: HTMLElement, from: DOMRect | null) => {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const anchor = from ?? new DOMRect((innerWidth - width) / 2, innerHeight / 3, width, 0);
  const below = anchor.bottom + gap;
  const top = below + height + edge <= innerHeight ? below : anchor.top - gap - height;
  const left = anchor.left > innerWidth / 2 ? anchor.right - width : anchor.left;
  menu.style.top = `${Math.max(edge, Math.min(top, innerHeight - edge - height))}px`;
  menu.style.left = `${Math.max(edge, Math.min(left, innerWidth - edge - width))}px`;
};

const Panel = ({ onClose, title, children }: SheetProps) => {
  const menu = useRef<HTMLDivElement>(null);
  useModal(true, onClose, menu, false);
  useLayoutEffect(() => {
    const from = lastPress();
    const element = menu.current;
    if (!element) return undefined;
    place(element, from);
    const observer = new ResizeObserver(() => place(element, from));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    addEventListener('resize', onClose);
    return () => removeEventListener('resize', onClose);
  }, [onClose]);
  return createPortal(
    <div
      className={css.menuVeil}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div
        className={css.menuPopover}
        data-popover
        role="dialog"
        aria-modal="true"
        aria-label={title}
        tabIndex={-1}
        ref={menu}
        onKeyDown={moveByArrows}
      >
        {children}
      </div>
    </div>,
    document.body,
  );
};

/** A few acts beside the button that opened them, for a mouse and a keyboard. */
export const MenuPopover = (props: SheetProps) => props.open && <Panel {...props} />;
