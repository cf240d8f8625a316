import type { ExportSheetProps } from './export-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEver } from '#src/platform/use-ever.ts';

const View = lazyAsked(() => import('./export-view.tsx'));

/** All ways out of a session: PDF, Markdown, JSON, a long image, a public link. Loaded when first opened. */
export const ExportSheet = (props: ExportSheetProps) => {
  const used = useEver(props.open);
  return used && <View {...props} />;
};
