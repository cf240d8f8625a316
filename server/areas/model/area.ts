import type { Area } from '#server/area.ts';
import { createKeyBox } from './channel-key.ts';
import { dropDeadRooms } from './channel-room.store.ts';
import { createManageModelHandlers } from './manage-model.handlers.ts';
import { removeOldStats } from './model-stat.service.ts';
import { createModelHandlers, type ModelDeps } from './model.handlers.ts';
import { shownByModels } from './model.store.ts';

export const modelArea = ({ ownStyles }: Pick<ModelDeps, 'ownStyles'>) =>
  ({
    holds: [{ table: 'model_stats', of: ['user_id'], end: 'delete' }],
    chores: [removeOldStats, dropDeadRooms],
    shows: shownByModels,
    serve: ({ models, settings, fetch }) => ({
      ...createModelHandlers({ models, ownStyles }),
      ...createManageModelHandlers({
        models,
        fetch,
        keys: createKeyBox(settings.secretKey, settings.dataDir),
      }),
    }),
  }) satisfies Area;
