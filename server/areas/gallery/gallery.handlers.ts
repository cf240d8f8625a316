import type { Handlers } from '#server/http/handlers.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import type { FileService } from '../file/file.service.ts';
import { createEditService } from '../image/edit.service.ts';
import { deleteImage, hideImage } from '../image/images.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { createGalleryService } from './gallery.service.ts';

type GalleryHandlers = Pick<
  Handlers,
  'imageIndex' | 'imageExplore' | 'imageInfo' | 'likeImage' | 'hideImage' | 'deleteImage'
>;

export const createGalleryHandlers = (deps: {
  models: ModelService;
  files: FileService;
}): GalleryHandlers => {
  const gallery = createGalleryService({ models: deps.models, edits: createEditService(deps) });
  return {
    imageIndex: (input, { db, user }) => gallery.index(db, input, user),
    imageExplore: (input, { db, user }) => gallery.explore(db, input, user),
    imageInfo: (input, { db, user }) => gallery.info(db, input, user),
    likeImage: (input, { db, user }) => gallery.like(db, input, user),
    hideImage: async ({ image_id, hidden }, { db, user }) => {
      await inTransaction(db, (tx) => hideImage(tx, image_id, hidden === 1, user));
      return { hidden: hidden === 1 };
    },
    deleteImage: async ({ image_id }, { db, user }) => {
      await inTransaction(db, (tx) => deleteImage(tx, image_id, user));
      return {};
    },
  };
};
