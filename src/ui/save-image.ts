import { saveBlob } from '#src/platform/save-file.ts';
import { api } from '#src/platform/api.ts';
import { copyText } from '#src/platform/copy.ts';
import { markedImage } from '#src/platform/leaving.ts';
import { toast } from '#src/platform/toast.ts';
import { confirmDialog } from './dialog.ts';

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

/** Saves an image without the words on it, once the person has agreed to say it themselves. */
export const saveUnmarked = async (address: string): Promise<void> => {
  const sure = await confirmDialog({
    title: '下载没有标识的图片',
    text: '这张图片由人工智能生成。发布或传给别人时，您要自己标明这一点，不能让人当成真的。您的同意和这次下载会记录六个月。',
    ok: '同意并下载',
  });
  if (!sure) return;
  const { url } = await api.takeUnmarked({ url: address, agree: 1 });
  await saveImage(url, true);
};

const failed = () => toast('图片没有下载成功，请稍后再试', 'error');

/**
 * Saves an image; one of another site that forbids reading opens in a tab of its own instead.
 * @param bare without words on it, which the person has agreed to write themselves
 */
export const saveImage = async (address: string, bare = false): Promise<void> => {
  let blob: Blob;
  try {
    blob = await read(bare ? address : markedImage(address));
  } catch {
    if (/^https?:/.test(address) && new URL(address).origin !== location.origin)
      open(address, '_blank', 'noopener,noreferrer');
    else failed();
    return;
  }
  saveBlob(blob, nameOf(address, blob.type));
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
    blob = await read(markedImage(address));
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
