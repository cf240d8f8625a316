import { copyText } from '#src/platform/copy.ts';
import { toast } from '#src/platform/toast.ts';

const nameOf = (address: string, type: string): string => {
  const last = address.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
  if (/^[\w.-]{1,100}\.\w{2,4}$/.test(last)) return last;
  return `图片.${type.split('/')[1]?.replace('jpeg', 'jpg') ?? 'jpg'}`;
};

const read = async (address: string): Promise<Blob> => {
  const response = await fetch(address);
  if (!response.ok) throw new Error(String(response.status));
  return response.blob();
};

const failed = () => toast('图片没有下载成功，请稍后再试', 'error');

/** Saves an image; one of another site that forbids reading opens in a tab of its own instead. */
export const saveImage = async (address: string): Promise<void> => {
  let blob: Blob;
  try {
    blob = await read(address);
  } catch {
    if (/^https?:/.test(address) && new URL(address).origin !== location.origin)
      open(address, '_blank', 'noopener,noreferrer');
    else failed();
    return;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = nameOf(address, blob.type);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

/**
 * Hands an image to the phone's own sharing, with its words; where there is none, its address is
 * copied.
 */
export const shareImage = async (address: string, words: string): Promise<void> => {
  const url = new URL(address, location.origin).href;
  if (typeof navigator.share !== 'function') {
    await copyText(url);
    return;
  }
  let blob: Blob;
  try {
    blob = await read(address);
  } catch {
    failed();
    return;
  }
  const files = [new File([blob], nameOf(address, blob.type), { type: blob.type })];
  const text = words.slice(0, 500);
  try {
    await navigator.share(navigator.canShare?.({ files }) ? { files, text } : { url, text });
  } catch (error) {
    // Stepping back is no failure.
    if (!(error instanceof DOMException && error.name === 'AbortError')) failed();
  }
};
