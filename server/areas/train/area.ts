import type { Area, Kit } from '../../area.ts';
import { createReplicateTraining } from '../../engines/training/replicate-training.ts';
import { builtInStyle } from '../../engines/training/built-in-style.ts';
import { createTrainHandlers } from './train.handlers.ts';
import { createTrainService } from './train.service.ts';
import { dropOldUploads, shownByProjects } from './train.store.ts';
import { createTrainWorks } from './train-work.ts';

export const trainArea = (kit: Kit) => {
  const { db, storage, embeddings, prompts, files, models, settings } = kit;
  const connected = settings.replicateToken !== '' && settings.replicateTrainer !== '';
  const training = connected
    ? createReplicateTraining({
        baseUrl: settings.replicateBaseUrl,
        token: settings.replicateToken,
        trainer: settings.replicateTrainer,
        destination: settings.replicateDestination,
        fetch: kit.fetch,
      })
    : builtInStyle;
  return {
    jobKinds: createTrainWorks({
      db,
      storage,
      embeddings,
      training,
      prompts,
      files,
      documentSeconds: settings.documentSeconds,
    }),
    chores: [dropOldUploads],
    shows: shownByProjects,
    serve: ({ jobs }) =>
      createTrainHandlers(
        createTrainService({
          storage,
          models,
          files,
          embeddings,
          training,
          quota: settings.fileQuota,
          uploadLimit: settings.uploadLimit,
          documentSeconds: settings.documentSeconds,
        }),
        jobs.cancel,
      ),
  } satisfies Area;
};
