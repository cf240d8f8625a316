import type { Area, Kit } from '#server/area.ts';
import { createImageWork } from './image-work.ts';
import { createImageHandlers } from './image.handlers.ts';
import { moveImages, removeDeletedFiles } from './images.service.ts';
import { imageKeysOf, shownAsParents } from './image.store.ts';

export const imageArea = ({ db, models, files, prompts, safety, settings, log }: Kit) =>
  ({
    holds: [
      {
        table: 'images',
        of: ['user_id'],
        end: {
          set: {
            deleted_at: 'coalesce(deleted_at, now())',
            key: `''`,
            prompt: `''`,
            made: `''`,
            seed: 'NULL',
            parameters: `'{}'`,
            remote: 'NULL',
            how: `''`,
            inspired_by: 'NULL',
          },
        },
        take: ['uuid', 'prompt', 'model', 'origin', 'created_at'],
      },
    ],
    leave: async (tx, userId) => {
      const kept = await imageKeysOf(tx, userId);
      return async () => {
        for (const image of kept) await files.dropStored(image);
      };
    },
    jobKinds: [
      createImageWork({
        db,
        models,
        files,
        translate: prompts.translate,
        safety,
        publicUrl: settings.publicUrl,
        log,
      }),
    ],
    chores: [(tx) => removeDeletedFiles(tx, files)],
    takeOver: moveImages,
    shows: shownAsParents,
    serve: (host) => createImageHandlers(host),
  }) satisfies Area;
