import type { ModelSheetProps } from './model-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEver } from '#src/platform/use-ever.ts';

const ModelSheetView = lazyAsked(() => import('./model-sheet-view.tsx'));

/** All models of a kind with their remarks and prices, one to choose. Loaded when first opened. */
export const ModelSheet = (props: ModelSheetProps) => {
  const used = useEver(props.open);
  return used && <ModelSheetView {...props} />;
};
