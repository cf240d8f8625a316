import type { Area, Kit } from '#server/area.ts';
import { createReplicateTraining } from '#server/engines/training/replicate-training.ts';
import { TrainingError, type TrainingEngine } from '#server/engines/training/training-engine.ts';
import { builtInStyle } from '#server/engines/training/built-in-style.ts';
import { createManageTrainHandlers, createTrainHandlers } from './train.handlers.ts';
import { leaveTraining } from './leave-training.ts';
import { shownByProjects } from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';
import { beginReadingAgain } from './read-again.ts';
import { readDueAddresses } from './watch.service.ts';
import { createTrainWorks } from './train-work.ts';

export const trainArea = (kit: Kit) => {
  const { db, storage, embeddings, prompts, files, models, settings } = kit;
  const connect = (service: {
    baseUrl: string;
    token: string;
    trainer: string;
    destination: string;
  }) => createReplicateTraining({ ...service, fetch: kit.fetch });
  const bySettings =
    settings.replicateToken !== '' && settings.replicateTrainer !== ''
      ? connect({
          baseUrl: settings.replicateBaseUrl,
          token: settings.replicateToken,
          trainer: settings.replicateTrainer,
          destination: settings.replicateDestination,
        })
      : builtInStyle;
  /** What trains now: a manager's service before the one of the settings. */
  const training = async (): Promise<TrainingEngine> => {
    const service = await kit.services.find('replicate');
    if (!service) return bySettings;
    const engine = connect({ ...service, token: service.secret });
    return {
      ...engine,
      channelId: service.channelId,
      train: async (order, io) => {
        const told = service.begin();
        try {
          const trained = await engine.train(order, io);
          told();
          return trained;
        } catch (error) {
          if (error instanceof TrainingError) told(error);
          throw error;
        }
      },
    };
  };
  const deps: TrainDeps = {
    db,
    storage,
    requireDisk: kit.disk.require,
    embeddings,
    training,
    models,
    prompts,
    files,
    settings,
    fetch: kit.fetch,
    log: kit.log,
  };
  return {
    holds: [
      // Their files, passages, sentences and logs go with them.
      {
        table: 'training_projects',
        of: ['user_id'],
        end: 'delete',
        take: ['key', 'name', 'type', 'description', 'settings', 'created_at'],
      },
    ],
    leave: (tx, userId) => leaveTraining(tx, userId, storage),
    jobKinds: createTrainWorks(deps),
    chores: [(tx) => readDueAddresses(deps, tx), (tx) => beginReadingAgain(deps, tx)],
    shows: shownByProjects,
    serve: ({ jobs }) => {
      const all = { ...deps, stopJob: jobs.cancel };
      return { ...createManageTrainHandlers(all), ...createTrainHandlers(all) };
    },
  } satisfies Area;
};
