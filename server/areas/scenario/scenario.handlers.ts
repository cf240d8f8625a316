import type { Handlers } from '#server/http/handlers.ts';
import * as service from './scenario.service.ts';

type ScenarioHandlers = Pick<
  Handlers,
  | 'scenarioCategory'
  | 'scenarioList'
  | 'saveScenario'
  | 'rateScenario'
  | 'delScenario'
  | 'manageScenario'
  | 'removeScenario'
  | 'saveScenarioCategory'
  | 'delScenarioCategory'
>;

export const createScenarioHandlers = (): ScenarioHandlers => ({
  scenarioCategory: async (_input, { db }) => ({ list: await service.categories(db) }),

  scenarioList: (input, { db, user }) => service.list(db, input, user),

  saveScenario: async (input, { db, user }) => ({ id: await service.save(db, input, user) }),

  rateScenario: async (input, { db, user }) => {
    await service.rate(db, input, user);
    return {};
  },

  delScenario: async ({ id }, { db, user }) => {
    await service.remove(db, id, user);
    return {};
  },

  manageScenario: async (input, { db, user, noteAct }) => ({
    id: await service.manage(db, input, user, noteAct),
  }),

  removeScenario: async ({ id }, { db, user, noteAct }) => {
    await service.removeAny(db, id, user, noteAct);
    return {};
  },

  saveScenarioCategory: async (input, { db, noteAct }) => ({
    id: await service.saveCategory(db, input, noteAct),
  }),

  delScenarioCategory: async ({ id }, { db, noteAct }) => {
    await service.deleteCategory(db, id, noteAct);
    return {};
  },
});
