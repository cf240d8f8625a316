import type { Area, Kit } from '../../area.ts';
import { createImageWork } from './image-work.ts';
import { createImageHandlers } from './image.handlers.ts';
import { moveImages, removeDeletedFiles } from './images.service.ts';
import { shownAsParents } from './image.store.ts';

export const imageArea = ({ db, models, files, prompts, settings, log }: Kit) =>
  ({
    jobKinds: [
      createImageWork({
        db,
        models,
        files,
        translate: prompts.translate,
        publicUrl: settings.publicUrl,
        log,
      }),
    ],
    chores: [(tx) => removeDeletedFiles(tx, files)],
    takeOver: moveImages,
    shows: shownAsParents,
    serve: (host) => createImageHandlers(host),
  }) satisfies Area;
