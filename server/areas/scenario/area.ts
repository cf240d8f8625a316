import type { Area } from '#server/area.ts';
import { createScenarioHandlers } from './scenario.handlers.ts';
import { seedScenarios } from './scenario.service.ts';
import { shownByScenarios } from './scenario.store.ts';

export const scenarioArea = () =>
  ({
    holds: [
      {
        table: 'scenarios',
        of: ['user_id'],
        end: {
          set: {
            name: `''`,
            description: `''`,
            prompt: `''`,
            sample: `''`,
            rejection: `''`,
            display: 'false',
            deleted_at: 'coalesce(deleted_at, now())',
          },
        },
        take: ['name', 'description', 'prompt', 'sample', 'state', 'rejection', 'created_at'],
      },
      { table: 'scenario_ratings', of: ['user_id'], end: 'delete' },
    ],
    seed: seedScenarios,
    shows: shownByScenarios,
    serve: () => createScenarioHandlers(),
  }) satisfies Area;
