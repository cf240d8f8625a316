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
