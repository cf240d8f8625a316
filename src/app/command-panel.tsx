import { useModal } from '#src/ui/modal.ts';
import { useRef, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import css from './command-palette.module.css';

/** What a key opens in the middle of the window. */
export const CommandPanel = ({
  label,
  className = '',
  onClose,
  children,
}: {
  label: string;
  className?: string | undefined;
  onClose: () => void;
  children: ReactNode;
}) => {
  const panel = useRef<HTMLDivElement>(null);
  useModal(true, onClose, panel);
  return createPortal(
    <div
      className={css.veil}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div
        className={`${css.panel} ${className}`}
        role="dialog"
        aria-modal="true"
        aria-label={label}
        tabIndex={-1}
        ref={panel}
      >
        {children}
      </div>
    </div>,
    document.body,
  );
};
