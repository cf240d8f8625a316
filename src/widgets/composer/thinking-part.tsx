import type { Model } from '#contract/model.ts';
import { lazyPart } from '#src/platform/lazy-chunk.ts';

const ThinkingChooser = lazyPart(() => import('./thinking-choice.tsx'));

/** How long the model thinks; nothing where that cannot be chosen, as with many. */
export const ThinkingSwitch = ({ model }: { model: Model | undefined }) =>
  model?.thinking ? <ThinkingChooser model={model} /> : null;
