import type { Database } from '#server/db/database.ts';
import { addHealth, type HealthCounts } from './channel-figures.store.ts';

/** How long outcomes are gathered before they are written, ms. */
const gatherMs = 3_000;

/** What went wrong, without what only the person who asked is to know. */
export const shortReason = (told: string): string => told.split('，')[0] ?? '';

/** Counts how channels do, a few writes for many replies. */
export const createChannelHealth = (db: Database) => {
  let gathered = new Map<number, HealthCounts>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const some = gathered;
    gathered = new Map();
    for (const [channelId, each] of some) await addHealth(db, channelId, each);
  };
  return {
    /** @param told what the person who asked was told of a failure */
    note(channelId: number, ok: boolean, told = ''): void {
      const known = gathered.get(channelId) ?? { successes: 0, failures: 0, reason: '' };
      known[ok ? 'successes' : 'failures'] += 1;
      if (!ok) known.reason = shortReason(told).slice(0, 300) || '服务没有成功回答';
      gathered.set(channelId, known);
      timer ??= setTimeout(() => {
        // Figures: what cannot be written is lost without harm.
        flush().catch(() => undefined);
      }, gatherMs).unref();
    },
    close: (): void => clearTimeout(timer),
  };
};
