import { useImageTool } from '#src/widgets/image/image-tool-store.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Suspense, useState } from 'react';

const ImageTool = lazyAsked(() => import('#src/features/image/image-tool.tsx'));

/** Stands once in the page; the tool loads when it is first opened. */
export const ImageToolHost = () => {
  const request = useImageTool();
  const [used, setUsed] = useState(false);
  if (request && !used) setUsed(true);
  if (!used) return null;
  return (
    <Suspense fallback={null}>
      <ImageTool request={request} />
    </Suspense>
  );
};
