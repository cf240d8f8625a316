import { useState } from 'react';
import { ApiError, errorText, isCancelled } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { isImage } from '#src/platform/attach/file-kinds.ts';
import { lazyChunk } from '#src/platform/lazy-chunk.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import { takeAsBase } from '#src/widgets/image/base-image.ts';
import type { Model } from '#contract/model.ts';

/** Only who brings an image needs what makes large photos smaller. */
const loadShrinking = lazyChunk(() => import('#src/platform/attach/shrink-image.ts'));

const reasonOf = (error: unknown): string =>
  error instanceof ApiError ? errorText(error) : error instanceof Error ? error.message : '';

/** Takes an image of the web into one's own, then as the base of a box; says why where it cannot. */
export const takeAddressAsBase = async (key: string, model: Model, url: string): Promise<void> => {
  try {
    const { image } = await api.imageByUrl({ url }, { quiet: true });
    takeAsBase(key, model, image);
  } catch (error) {
    toast(`参考图没有取到：${reasonOf(error)}`, 'error');
  }
};

/** Makes a pasted or dropped image the base of a box; tells how far it has come, null: none comes. */
export const useBaseIntake = (key: string, model: Model | undefined) => {
  const [share, setShare] = useState<number | null>(null);
  const take = async (files: readonly File[]) => {
    const file = files.find(isImage);
    if (!model?.image?.abilities.includes('image-to-image')) {
      toast('这个模型不能用参考图，请换一个模型', 'error');
      return;
    }
    if (!file) {
      toast('只支持图片，如 jpg、png', 'error');
      return;
    }
    setShare(0);
    try {
      const { prepareImage } = await loadShrinking();
      const { blob, name } = await prepareImage(file);
      const { image } = await upload('uploadImage', blob, {
        fileName: name,
        idempotencyKey: uuid(),
        onProgress: setShare,
        outlasts: true,
      });
      void refreshScreens();
      if (takeAsBase(key, model, image)) toast('已作为参考图，写下想怎样画', 'success');
    } catch (error) {
      if (!isCancelled(error)) toast(`图片没有加上：${reasonOf(error)}`, 'error');
    } finally {
      setShare(null);
    }
  };
  return { share, take: (files: readonly File[]) => void take(files) };
};
