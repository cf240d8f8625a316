import type { Area, Kit } from '#server/area.ts';
import { createKeyBox } from '../model/channel-key.ts';
import { moderationHandlers } from './moderation.handlers.ts';
import { createSafetyHandlers } from './safety.handlers.ts';
import { removeOldCases } from './safety.store.ts';

export const moderationArea = ({ safety, settings }: Kit) =>
  ({
    holds: [
      {
        table: 'safety_cases',
        of: ['user_id', 'decided_by'],
        where: 'user_id = $person',
        end: { set: { excerpt: `''`, appeal: `''` } },
        take: ['created_at', 'way', 'kind', 'level', 'reason', 'excerpt', 'state', 'appeal'],
      },
    ],
    chores: [removeOldCases],
    serve: () => ({
      ...moderationHandlers,
      ...createSafetyHandlers(safety, () => createKeyBox(settings.secretKey, settings.dataDir)),
    }),
  }) satisfies Area;
