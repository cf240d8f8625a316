import type { Area } from '#server/area.ts';
import { moveLabels, removeOldLabels, removeOldUnmarked } from './compliance.store.ts';
import { removeOldRecords } from './records.store.ts';
import { createAgreementHandlers } from './agreement.handlers.ts';
import { createMinorHandlers } from './minor.handlers.ts';
import type { Signing } from './signing.service.ts';
import { createComplianceHandlers } from './compliance.handlers.ts';
import type { ListParties } from './third-parties.ts';

/** @param deps.close takes back all that a person has made public */
export const complianceArea = (
  parties: readonly ListParties[],
  deps: Pick<Parameters<typeof createMinorHandlers>[0], 'close'> & { signing: Signing },
) =>
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
        table: 'records',
        of: ['user_id'],
        end: {
          keep: 'the law asks for who did what from where for months, also of those who left',
        },
        take: ['at', 'kind', 'call', 'ip', 'port'],
      },
      {
        table: 'minors',
        of: ['user_id'],
        end: 'delete',
        take: ['active', 'from_minute', 'to_minute', 'minutes'],
      },
      {
        table: 'consents',
        of: ['user_id'],
        end: { keep: 'that somebody agreed, and to what, has to be shown later, too' },
        take: ['kind', 'version', 'created_at', 'withdrawn_at'],
      },
    ],
    chores: [removeOldUnmarked, removeOldLabels, removeOldRecords],
    takeOver: moveLabels,
    serve: ({ files, payments }) => ({
      ...createComplianceHandlers(files, deps.signing),
      ...createAgreementHandlers(parties),
      ...createMinorHandlers({ close: deps.close, closeOrders: payments.closeOrdersOf }),
    }),
  }) satisfies Area;
