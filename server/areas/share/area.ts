import type { Area } from '#server/area.ts';
import { createShareHandlers } from './share.handlers.ts';

export const shareArea = () =>
  ({
    holds: [
      { table: 'shares', of: ['user_id'], end: 'delete', take: ['session_id', 'created_at'] },
    ],
    serve: () => createShareHandlers(),
  }) satisfies Area;
