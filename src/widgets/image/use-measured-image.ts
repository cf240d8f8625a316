import { useEffect, useState } from 'react';
import { measureImage } from './base-image.ts';
import type { PickedImage } from './picked-image.ts';

/** The pixels of the image that is chosen; null while they are not known. */
export const useMeasuredImage = (url: string): PickedImage | null => {
  const [measured, setMeasured] = useState<PickedImage | null>(null);
  useEffect(() => {
    if (url === '') return undefined;
    let left = false;
    const measure = async () => {
      try {
        const image = await measureImage(url);
        if (!left) setMeasured(image);
      } catch {
        // The server may still reach what this browser does not.
      }
    };
    void measure();
    return () => {
      left = true;
    };
  }, [url]);
  return measured?.url === url ? measured : null;
};
