import { lazy, Suspense, useState, type ReactNode } from 'react';

export interface SheetProps {
  open: boolean;
  onClose: () => void;
  /** Its name, shown at its head. */
  title: string;
  children: ReactNode;
}

const SheetView = lazy(() => import('./sheet-view.tsx'));

/** Choices over the page: from below on a phone, from the right on a wide screen. Loaded when first opened. */
export const Sheet = (props: SheetProps) => {
  // Once opened it stays, so that closing can be animated.
  const [used, setUsed] = useState(props.open);
  if (props.open && !used) setUsed(true);
  if (!used) return null;
  return (
    <Suspense fallback={null}>
      <SheetView {...props} />
    </Suspense>
  );
};
