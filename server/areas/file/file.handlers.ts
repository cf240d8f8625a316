import type { Handlers } from '#server/http/handlers.ts';
import type { FileService } from './file.service.ts';

export const createFileHandlers = (
  files: FileService,
): Pick<
  Handlers,
  | 'uploadImage'
  | 'uploadFile'
  | 'uploadPiece'
  | 'uploadState'
  | 'attachedText'
  | 'imageByUrl'
  | 'croppingImage'
  | 'foreignImage'
> => ({
  uploadImage: async ({ declared }, { file, user }) => {
    const keep = await files.image(file, user, declared === 1);
    return async (db) => ({ image: await keep(db) });
  },
  uploadFile: async (_input, { file, user }) => {
    const keep = await files.text(file, user);
    return async (db) => ({ file: await keep(db) });
  },
  uploadPiece:
    async (input, { file, user }) =>
    (db) =>
      files.keepPiece(db, input, { data: file.data, user }),
  uploadState: ({ upload_id: id }, { db, user }) => files.pieceState(db, id, user),
  attachedText: ({ uuid }, { db, user }) => files.attachedText(db, uuid, user),
  croppingImage: async ({ image }, { user }) => {
    const keep = await files.croppedImage(image, user);
    return async (db) => ({ image: await keep(db) });
  },
  foreignImage: ({ url }, { user, ip }) => files.foreignImage(url, { user, ip }),
  imageByUrl: async ({ url }, { user }) => {
    const keep = await files.imageByUrl(url, user);
    return async (db) => ({ image: await keep(db) });
  },
});
