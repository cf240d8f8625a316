import type { Area, Kit } from '#server/area.ts';
import { moderationHandlers } from './moderation.handlers.ts';
import { createSafetyHandlers } from './safety.handlers.ts';
import { removeOldCases } from './safety.store.ts';

export const moderationArea = ({ safety }: Kit) =>
  ({
    holds: [
      {
        table: 'safety_cases',
        of: ['user_id'],
        end: { set: { by: `''`, reason: `''`, excerpt: `''`, appeal: `''`, ip: `''` } },
        take: ['created_at', 'way', 'kind', 'level', 'reason', 'excerpt', 'state', 'appeal', 'ip'],
      },
    ],
    chores: [removeOldCases],
    serve: () => ({ ...moderationHandlers, ...createSafetyHandlers(safety) }),
  }) satisfies Area;
