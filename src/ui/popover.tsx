import { lastPress } from '#src/platform/last-press.ts';
import { useEffect, useLayoutEffect, useRef, type KeyboardEvent } from 'react';
import { createPortal } from 'react-dom';
import { moveByArrows } from './arrow-keys.ts';
import { useModal } from './modal.ts';
import type { SheetProps } from './sheet-props.ts';
import css from './popover.module.css';

/** Between the popover and its button, and between the popover and the window's edge, px. */
const gap = 6;
const edge = 8;

/**
 * On the side of the button where it fits, else where more room is; within the window in any case.
 * One that is filtered keeps its height: what is typed moves nothing but its rows.
 */
const place = (panel: HTMLElement, from: DOMRect | null) => {
  const anchor = from ?? new DOMRect((innerWidth - panel.offsetWidth) / 2, innerHeight / 3, 0, 0);
  const above = anchor.top - gap - edge;
  const below = innerHeight - edge - anchor.bottom - gap;
  const whole = panel.scrollHeight + panel.offsetHeight - panel.clientHeight;
  const under = whole <= below || below >= above;
  panel.style.maxHeight = `${under ? below : above}px`;
  const { offsetWidth: width, offsetHeight: height } = panel;
  if (panel.querySelector('[data-filter]')) panel.style.minHeight = `${height}px`;
  const left = anchor.left > innerWidth / 2 ? anchor.right - width : anchor.left;
  panel.style.top = `${under ? anchor.bottom + gap : anchor.top - gap - height}px`;
  panel.style.left = `${Math.max(edge, Math.min(left, innerWidth - edge - width))}px`;
};

/** Arrows walk; letters go to the filter wherever the focus is, and Enter there takes the first row. */
const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
  const filter = event.currentTarget.querySelector<HTMLInputElement>('[data-filter] input');
  if (filter && !event.nativeEvent.isComposing) {
    const isLetter =
      event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
    if (isLetter && event.target instanceof HTMLButtonElement) filter.focus();
    else if (event.key === 'Enter' && event.target === filter) {
      event.preventDefault();
      const rows = event.currentTarget.querySelectorAll<HTMLElement>('[data-row]');
      rows[0]?.click();
    }
  }
  moveByArrows(event);
};

const Panel = ({ onClose, title, popover, night, children }: SheetProps) => {
  const panel = useRef<HTMLDivElement>(null);
  useModal(true, onClose, panel, false);
  useLayoutEffect(() => {
    const from = lastPress();
    const element = panel.current;
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
      className={css.outside}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div
        className={css.popover}
        data-popover={popover}
        data-night={night || undefined}
        role="dialog"
        aria-modal="true"
        aria-label={title}
        tabIndex={-1}
        ref={panel}
        onKeyDown={onKeyDown}
      >
        {popover === 'panel' && <h2>{title}</h2>}
        {children}
      </div>
    </div>,
    document.body,
  );
};

/** Choices beside the button that opened them, without a veil: for a mouse and a keyboard. */
export const Popover = (props: SheetProps) => props.open && <Panel {...props} />;
