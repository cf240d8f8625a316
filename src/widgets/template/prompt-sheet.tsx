import type { PromptSheetProps } from './prompt-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEver } from '#src/platform/use-ever.ts';

const PromptSheetView = lazyAsked(() => import('./prompt-sheet-view.tsx'));

/** Templates of prompts, one to choose. Loaded when first opened. */
export const PromptSheet = (props: PromptSheetProps) => {
  const used = useEver(props.open);
  return used && <PromptSheetView {...props} />;
};
