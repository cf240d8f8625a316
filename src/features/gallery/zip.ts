import { markedImage } from '#src/platform/leaving.ts';
import { Zip, ZipPassThrough } from 'fflate';

/** The name of an image in the archive: what it shows, and its number. */
const nameOf = ({ id, url, prompt }: { id: number; url: string; prompt: string }): string => {
  const words = prompt
    .replaceAll(/[\p{Cc}\p{Cf}\\/:*?"<>|]/gu, ' ')
    .trim()
    .slice(0, 40);
  return `${words || '图片'}-${id}.${url.split('.').at(-1) ?? 'png'}`;
};

/**
 * Images as one zip archive; they are packed as they are, since pixels do not get smaller.
 * @param tell how many are in it, after each
 * @throws Error where none could be read; those that could not are left out and counted
 */
export const zipImages = async (
  images: readonly { id: number; url: string; prompt: string }[],
  tell: (done: number) => void,
  signal: AbortSignal,
): Promise<{ archive: Blob; missing: number }> => {
  const parts: BlobPart[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    parts.push(new Uint8Array(chunk));
  });
  let missing = 0;
  for (const [at, image] of images.entries()) {
    try {
      const response = await fetch(markedImage(image.url), { signal });
      if (!response.ok) throw new Error(String(response.status));
      const file = new ZipPassThrough(nameOf(image));
      zip.add(file);
      file.push(new Uint8Array(await response.arrayBuffer()), true);
    } catch {
      signal.throwIfAborted();
      missing += 1;
    }
    tell(at + 1);
  }
  if (missing === images.length) throw new Error('no image could be read');
  zip.end();
  return { archive: new Blob(parts, { type: 'application/zip' }), missing };
};
