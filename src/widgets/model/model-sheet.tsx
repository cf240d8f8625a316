import type { ModelSheetProps } from './model-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Suspense, useState } from 'react';

const ModelSheetView = lazyAsked(() => import('./model-sheet-view.tsx'));

/** All models of a kind with their remarks and prices, one to choose. Loaded when first opened. */
export const ModelSheet = (props: ModelSheetProps) => {
  // Once opened it stays, so that closing can be animated.
  const [used, setUsed] = useState(props.open);
  if (props.open && !used) setUsed(true);
  return (
    used && (
      <Suspense fallback={null}>
        <ModelSheetView {...props} />
      </Suspense>
    )
  );
};
