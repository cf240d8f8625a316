import type { Area } from '#server/area.ts';
import { moveLabels } from './compliance.store.ts';
import { complianceHandlers } from './compliance.handlers.ts';

export const complianceArea = () =>
  ({
    holds: [
      {
        table: 'labels',
        of: ['user_id'],
        end: { set: { user_id: 'NULL' } },
        take: ['id', 'kind', 'model', 'created_at'],
      },
    ],
    takeOver: moveLabels,
    serve: () => complianceHandlers,
  }) satisfies Area;
