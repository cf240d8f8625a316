import type { Model } from '@contract/model.ts';
import { lazy, Suspense, useState } from 'react';

export interface ModelSheetProps {
  open: boolean;
  /** Name of the model in use. */
  value: string;
  title?: string;
  /** Those that can be chosen here. */
  only?: ((model: Model) => boolean) | undefined;
  /** Models of pictures; else those of chats. */
  pictures?: boolean;
  /** Models of films. */
  films?: boolean;
  onClose: () => void;
  onChoose: (name: string) => void;
}

const ModelSheetView = lazy(() => import('./model-sheet-view.tsx'));

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
