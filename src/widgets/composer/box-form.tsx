import type { ReactNode } from 'react';
import boxCss from './send.module.css';

/** The box under a session: a row of choices, then what is to be sent. */
export const BoxForm = ({
  onSend,
  veil,
  children,
}: {
  onSend: () => void;
  /** Lies over the box while files are dragged to it. */
  veil?: ReactNode;
  children: ReactNode;
}) => (
  <form
    className={boxCss.send}
    data-send-box
    onSubmit={(event) => {
      event.preventDefault();
      onSend();
    }}
  >
    {veil}
    <div className={boxCss.sendInner}>{children}</div>
  </form>
);

/** Shown when a text comes near to the most that may be sent. */
export const LetterCount = ({ text, most }: { text: string; most: number }) => {
  const { length } = text.trim();
  return text.length > most * 0.9 ? (
    <span className={boxCss.sendCount} data-count data-over={length > most || undefined}>
      {length} / {most}
    </span>
  ) : null;
};
