import type { SheetProps } from './sheet-props.ts';
import '@/platform/last-press.ts';
import { lazy, Suspense } from 'react';
import { useEver } from '@/platform/use-ever.ts';

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
