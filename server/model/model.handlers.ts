import type { Handlers } from '../http/handlers.ts';
import type { ModelService } from './model.service.ts';

export const createModelHandlers = (deps: { models: ModelService }): Pick<Handlers, 'models'> => ({
  models: async (_input, { db }) => ({ models: await deps.models.list(db) }),
});
