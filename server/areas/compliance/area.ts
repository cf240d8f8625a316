import type { Area } from '#server/area.ts';
import { moveLabels, removeOldLabels, removeOldUnmarked } from './compliance.store.ts';
import { createAgreementHandlers } from './agreement.handlers.ts';
import { createComplianceHandlers } from './compliance.handlers.ts';

export const complianceArea = () =>
  ({
    holds: [
      {
        table: 'labels',
        of: ['user_id'],
        end: { set: { user_id: 'NULL' } },
        take: ['id', 'kind', 'model', 'created_at'],
      },
      {
        table: 'unmarked_downloads',
        of: ['user_id'],
        end: { keep: 'who agreed to label an image themselves is on record for six months' },
        take: ['image_key', 'created_at'],
      },
      {
        table: 'consents',
        of: ['user_id'],
        end: { keep: 'that somebody agreed, and to what, has to be shown later, too' },
        take: ['kind', 'version', 'created_at', 'withdrawn_at'],
      },
    ],
    chores: [removeOldUnmarked, removeOldLabels],
    takeOver: moveLabels,
    serve: ({ files }) => ({ ...createComplianceHandlers(files), ...createAgreementHandlers() }),
  }) satisfies Area;
