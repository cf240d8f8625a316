import { and, asc, eq } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { channels } from '../../db/schema.ts';
import type { KeyBox } from './channel-key.ts';

/** Changes made by a manager are seen within this, ms. */
const cacheMs = 3_000;

export interface SideService {
  label: string;
  baseUrl: string;
  secret: string;
  models: string[];
  trainer: string;
  destination: string;
}

export interface SideServices {
  /** The service that a manager connected for this; null: none, what the settings say holds. */
  find: (kind: 'embedding' | 'replicate') => Promise<SideService | null>;
}

/** Services of managers that answer nobody in a session: they embed texts, or train styles. */
export const createSideServices = (db: Database, keys: () => KeyBox): SideServices => {
  const known = new Map<string, { found: SideService | null; until: number }>();
  return {
    find: async (kind) => {
      const before = known.get(kind);
      if (before && Date.now() < before.until) return before.found;
      const [row] = await db
        .select()
        .from(channels)
        .where(and(eq(channels.kind, kind), eq(channels.enabled, true)))
        .orderBy(asc(channels.priority), asc(channels.id))
        .limit(1);
      const secret = row?.keyEncrypted ? keys().open(row.keyEncrypted, row.key) : '';
      const found =
        row && secret !== null
          ? {
              label: row.label,
              baseUrl: row.baseUrl,
              secret: secret.split('\n')[0]?.trim() ?? '',
              models: row.options.models ?? [],
              trainer: row.options.trainer ?? '',
              destination: row.options.destination ?? '',
            }
          : null;
      known.set(kind, { found, until: Date.now() + cacheMs });
      return found;
    },
  };
};
