import { lazy, Suspense, type ReactNode } from 'react';
import { useEver } from '@/platform/use-ever.ts';

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
  const used = useEver(props.open);
  if (!used) return null;
  return (
    <Suspense fallback={null}>
      <SheetView {...props} />
    </Suspense>
  );
};
