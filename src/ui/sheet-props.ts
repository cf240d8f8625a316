import type { ReactNode } from 'react';

export interface SheetProps {
  open: boolean;
  onClose: () => void;
  /** Its name, shown at its head. */
  title: string;
  children: ReactNode;
}
