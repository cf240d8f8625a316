import { useSyncExternalStore } from 'react';
import { ApiError } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { filesIn, purgeFiles } from '#src/platform/purge-files.ts';
import { createStore, useStore } from '#src/platform/store.ts';
import { toast } from '#src/platform/toast.ts';

/** What people think of an image, and the person here: 1 likes it, -1 does not, 0 neither. */
export interface ImageMark {
  like: number;
  liked_count: number;
  disliked_count: number;
}

const marks = createStore<ReadonlyMap<number, ImageMark>>(new Map());
const put = (id: number, mark: ImageMark) => marks.set(new Map(marks.get()).set(id, mark));

/** An image's votes: as they were given here since it was read, else as it was read. */
export const useImageMark = (image: ImageMark & { id: number }): ImageMark => {
  const { id } = image;
  return useSyncExternalStore(marks.subscribe, () => marks.get().get(id)) ?? image;
};

const counted = (mark: ImageMark, vote: number): ImageMark => ({
  like: vote,
  liked_count: mark.liked_count + Number(vote === 1) - Number(mark.like === 1),
  disliked_count: mark.disliked_count + Number(vote === -1) - Number(mark.like === -1),
});

/** Gives the person's vote, shown at once; the same once more takes it back. */
export const voteOnImage = async (
  image: ImageMark & { id: number },
  wish: 1 | -1,
): Promise<void> => {
  if (authStore.get().token === '') {
    toast('登录后就可以点赞', 'info');
    return;
  }
  const before = marks.get().get(image.id) ?? image;
  const vote = before.like === wish ? 0 : wish;
  put(image.id, counted(before, vote));
  try {
    const { like, liked_count, disliked_count } = await api.likeImage({
      image_id: image.id,
      status: vote,
    });
    put(image.id, { like, liked_count, disliked_count });
  } catch (error) {
    put(image.id, before);
    // The call has said why.
    if (!(error instanceof ApiError)) throw error;
  }
};

const gone = createStore<ReadonlySet<number>>(new Set());

/** Numbers of the images that were deleted here: lists leave them out at once. */
export const useDeletedImages = (): ReadonlySet<number> => useStore(gone);

/** Deletes an image. @throws ApiError, which the call has told of */
export const deleteImage = async ({ id, url }: { id: number; url: string }): Promise<void> => {
  await api.deleteImage({ image_id: id });
  await purgeFiles(filesIn(url)).catch(() => undefined);
  gone.set(new Set(gone.get()).add(id));
};
