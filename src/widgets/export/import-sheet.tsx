import type { ImportSheetProps } from './import-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEver } from '#src/platform/use-ever.ts';

const View = lazyAsked(() => import('./import-view.tsx'));

/** Takes in what 鹊桥 or ChatGPT exported. For registered people alone. Loaded when first opened. */
export const ImportSheet = (props: ImportSheetProps) => {
  const used = useEver(props.open);
  return used && <View {...props} />;
};
