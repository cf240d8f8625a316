import type { Handlers } from '../http/handlers.ts';
import { categories, list } from './scenario.service.ts';

export const createScenarioHandlers = (): Pick<Handlers, 'scenarioCategory' | 'scenarioList'> => ({
  scenarioCategory: async (_input, { db }) => ({ list: await categories(db) }),
  scenarioList: (input, { db }) => list(db, input),
});
