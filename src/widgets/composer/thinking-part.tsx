import type { Model } from '#contract/model.ts';
import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { Suspense } from 'react';

const ThinkingChooser = lazyPart(() => import('./thinking-choice.tsx'));

/** How long the model thinks; nothing where that cannot be chosen, as with many. */
export const ThinkingSwitch = ({ model }: { model: Model | undefined }) =>
  model?.thinking ? (
    <Suspense fallback={null}>
      <ThinkingChooser model={model} />
    </Suspense>
  ) : null;
