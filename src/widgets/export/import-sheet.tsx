import type { ImportSheetProps } from './import-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Suspense, useState } from 'react';

const View = lazyAsked(() => import('./import-view.tsx'));

/** Takes in what 鹊桥 or ChatGPT exported. For registered people alone. Loaded when first opened. */
export const ImportSheet = (props: ImportSheetProps) => {
  const [used, setUsed] = useState(props.open);
  if (props.open && !used) setUsed(true);
  if (!used) return null;
  return (
    <Suspense fallback={null}>
      <View {...props} />
    </Suspense>
  );
};
