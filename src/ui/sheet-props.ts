import type { ReactNode } from 'react';

export interface SheetProps {
  open: boolean;
  onClose: () => void;
  /** Its name, shown at its head. */
  title: string;
  /** It holds a few acts: with a mouse they stand beside the button that was pressed. */
  menu?: boolean;
  children: ReactNode;
}
