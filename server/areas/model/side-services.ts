import { searchKinds } from '#contract/manage-model.ts';
import type { Database } from '#server/db/database.ts';
import { workFault } from '#server/engines/channel-fault.ts';
import { createChannelHealth } from './channel-health.ts';
import { keysIn, type KeyBox } from './channel-key.ts';
import { someKey } from './channel-outcomes.ts';
import { createLineRecord } from './line-record.ts';
import { type ChannelRow, firstOfKinds } from './model.store.ts';

/** Changes made by a manager are seen within this, ms. */
const cacheMs = 3_000;

export interface SideService {
  channelId: number;
  kind: ChannelRow['kind'];
  label: string;
  baseUrl: string;
  /** The first key: who began a work with it asks after it with it. */
  secret: string;
  /** The key whose turn it is. */
  nextKey: () => string;
  models: string[];
  trainer: string;
  destination: string;
  search: ChannelRow['options']['search'];
  /** A request begins; what this gives is told how it went: what it failed with, or nothing. */
  begin: (model?: string) => (failure?: Error) => void;
}

export interface SideServices {
  /** The service that a manager connected for this; null: none, what the settings say holds. */
  find: (kind: 'embedding' | 'replicate' | 'search') => Promise<SideService | null>;
}

/** Services of managers that answer nobody in a session: they embed texts, train styles, or search. */
export const createSideServices = (db: Database, keys: () => KeyBox): SideServices => {
  const health = createChannelHealth(db);
  const record = createLineRecord(db);
  let turn = 0;
  const known = new Map<string, { found: SideService | null; until: number }>();
  return {
    find: async (kind) => {
      const before = known.get(kind);
      if (before && Date.now() < before.until) return before.found;
      const row = await firstOfKinds(db, kind === 'search' ? searchKinds : [kind]);
      const secret = row?.keyEncrypted ? keys().open(row.keyEncrypted, row.key) : '';
      const own = keysIn(secret ?? '');
      const found =
        row && secret !== null
          ? {
              channelId: row.id,
              kind: row.kind,
              label: row.label,
              baseUrl: row.baseUrl,
              secret: own[0] ?? '',
              nextKey: () => own[turn++ % own.length] ?? '',
              models: row.options.models ?? [],
              trainer: row.options.trainer ?? '',
              destination: row.options.destination ?? '',
              search: row.options.search,
              begin: (model = '') => {
                const since = performance.now();
                return (failure?: Error) => {
                  const { kind, status } = failure
                    ? workFault(failure)
                    : { kind: 'ok', status: 200 };
                  const ms = performance.now() - since;
                  const line = { channelId: row.id, model, key: someKey };
                  record.note(line, { result: kind, ms, status });
                  health.note(row.id, failure === undefined, failure?.message);
                };
              },
            }
          : null;
      known.set(kind, { found, until: Date.now() + cacheMs });
      return found;
    },
  };
};
