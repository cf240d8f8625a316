import type { Handlers } from '../http/handlers.ts';
import { keepStat } from './model-stat.service.ts';
import type { ModelService } from './model.service.ts';

export const createModelHandlers = ({
  models,
}: {
  models: ModelService;
}): Pick<Handlers, 'models' | 'modelStat'> => ({
  models: async (_input, { db }) => ({ models: await models.list(db) }),

  modelStat: async (input, { db, user }) => {
    await keepStat(db, models, input, user);
    return {};
  },
});
