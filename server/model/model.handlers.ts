import type { Handlers } from '../http/handlers.ts';
import { metadata, previewOf } from './image-metadata.service.ts';
import { keepStat } from './model-stat.service.ts';
import type { ModelService } from './model.service.ts';

export const createModelHandlers = ({
  models,
}: {
  models: ModelService;
}): Pick<Handlers, 'models' | 'modelStat' | 'imageMetadata' | 'promptParameter'> => ({
  models: async (_input, { db }) => ({ models: await models.list(db) }),

  modelStat: async (input, { db, user }) => {
    await keepStat(db, models, input, user);
    return {};
  },

  imageMetadata: ({ model }, { db }) => metadata(db, models, model),

  promptParameter: async ({ model, prompt, parameters }, { db }) => ({
    result: await previewOf(db, models, { model, prompt, parameters: parameters ?? {} }),
  }),
});
