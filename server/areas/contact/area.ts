import type { Area } from '#server/area.ts';
import { removeExpiredCodes } from './contact.store.ts';

export const contactArea = () =>
  ({
    holds: [
      {
        table: 'contacts',
        of: ['user_id'],
        end: 'delete',
        take: ['kind', 'value', 'created_at'],
      },
      { table: 'contact_codes', of: ['user_id'], end: 'delete' },
    ],
    chores: [removeExpiredCodes],
  }) satisfies Area;
