import type { Area } from '../../area.ts';
import { createScenarioHandlers } from './scenario.handlers.ts';
import { seedScenarios } from './scenario.service.ts';

export const scenarioArea = () =>
  ({ seed: seedScenarios, serve: () => createScenarioHandlers() }) satisfies Area;
