import type { ExportSheetProps } from './export-sheet-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Suspense, useState } from 'react';

const View = lazyAsked(() => import('./export-view.tsx'));

/** All ways out of a session: PDF, Markdown, JSON, a long image, a public link. Loaded when first opened. */
export const ExportSheet = (props: ExportSheetProps) => {
  const [used, setUsed] = useState(props.open);
  if (props.open && !used) setUsed(true);
  if (!used) return null;
  return (
    <Suspense fallback={null}>
      <View {...props} />
    </Suspense>
  );
};
