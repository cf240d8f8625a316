import type { ReactNode } from 'react';

export interface SheetProps {
  open: boolean;
  onClose: () => void;
  /** Its name, shown at its head. */
  title: string;
  /**
   * It is no form: with a mouse it stands beside the button that was pressed, as a list of rows or as
   * a panel of several parts under its name.
   */
  popover?: 'list' | 'panel';
  /** On a wide window it has room for a table beside a form. */
  wide?: boolean;
  /**
   * Nobody asked for it: it waits for the end of a sentence that is being written, the rest of which
   * it would swallow.
   */
  unasked?: boolean;
  /** It stands on what is dark in every theme. */
  night?: boolean;
  children: ReactNode;
}
