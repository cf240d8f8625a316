import { useImageTool } from '#src/widgets/image/image-tool-store.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEver } from '#src/platform/use-ever.ts';

const ImageTool = lazyAsked(() => import('#src/features/image/image-tool.tsx'));

/** Stands once in the page; the tool loads when it is first opened. */
export const ImageToolHost = () => {
  const request = useImageTool();
  const used = useEver(request !== null);
  return used && <ImageTool request={request} />;
};
