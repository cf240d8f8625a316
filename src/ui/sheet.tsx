import type { SheetProps } from './sheet-props.ts';
import '#src/platform/last-press.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEver } from '#src/platform/use-ever.ts';

const SheetView = lazyAsked(() => import('./sheet-view.tsx'));

/** Choices over the page: from below on a phone, from the right on a wide screen. Loaded when first opened. */
export const Sheet = (props: SheetProps) => {
  const used = useEver(props.open);
  if (!used) return null;
  return <SheetView {...props} />;
};
