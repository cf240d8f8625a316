import type { Area } from '../../area.ts';
import { createScenarioHandlers } from './scenario.handlers.ts';
import { seedScenarios } from './scenario.service.ts';
import { shownByScenarios } from './scenario.store.ts';

export const scenarioArea = () =>
  ({
    seed: seedScenarios,
    shows: shownByScenarios,
    serve: () => createScenarioHandlers(),
  }) satisfies Area;
