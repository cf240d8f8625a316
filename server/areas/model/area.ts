import type { Area } from '../../area.ts';
import { createKeyBox } from './channel-key.ts';
import { createManageModelHandlers } from './manage-model.handlers.ts';
import { removeOldStats } from './model-stat.service.ts';
import { createModelHandlers } from './model.handlers.ts';
import { shownByModels } from './model.store.ts';

export const modelArea = () =>
  ({
    chores: [removeOldStats],
    shows: shownByModels,
    serve: ({ models, settings }) => ({
      ...createModelHandlers({ models }),
      ...createManageModelHandlers({
        models,
        keys: createKeyBox(settings.secretKey, settings.dataDir),
      }),
    }),
  }) satisfies Area;
