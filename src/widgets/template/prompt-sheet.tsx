import { lazy, Suspense } from 'react';
import { useEver } from '@/platform/use-ever.ts';

export interface PromptSheetProps {
  open: boolean;
  /** 0: of chats; 1: of pictures. */
  type: 0 | 1;
  /** Name of the model that they are for: some are offered with some models alone. */
  model: string;
  onClose: () => void;
  /** Gets the text with its variables filled in. */
  onChoose: (text: string) => void;
}

const PromptSheetView = lazy(() => import('./prompt-sheet-view.tsx'));

/** Templates of prompts, one to choose. Loaded when first opened. */
export const PromptSheet = (props: PromptSheetProps) => {
  const used = useEver(props.open);
  return (
    used && (
      <Suspense fallback={null}>
        <PromptSheetView {...props} />
      </Suspense>
    )
  );
};
