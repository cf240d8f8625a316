import { sql } from 'drizzle-orm';
import type { Database } from '#server/db/database.ts';

/** How long outcomes are gathered before they are written, ms. */
const gatherMs = 3_000;

interface Gathered {
  successes: number;
  failures: number;
  reason: string;
}

/** What went wrong, without what only the person who asked is to know. */
export const shortReason = (told: string): string => told.split('，')[0] ?? '';

/** Counts how channels do, a few writes for many replies. */
export const createChannelHealth = (db: Database) => {
  let gathered = new Map<number, Gathered>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const some = gathered;
    gathered = new Map();
    for (const [channelId, { successes, failures, reason }] of some)
      await db.execute(
        sql`INSERT INTO channel_health
            (channel_id, successes, failures, last_success_at, last_failure_at, last_error)
          SELECT id, ${successes}, ${failures},
            CASE WHEN ${successes} > 0 THEN now() END, CASE WHEN ${failures} > 0 THEN now() END,
            ${reason}
          FROM channels WHERE id = ${channelId}
          ON CONFLICT (channel_id) DO UPDATE SET
            successes = channel_health.successes + excluded.successes,
            failures = channel_health.failures + excluded.failures,
            last_success_at = coalesce(excluded.last_success_at, channel_health.last_success_at),
            last_failure_at = coalesce(excluded.last_failure_at, channel_health.last_failure_at),
            last_error = CASE WHEN excluded.failures > 0 THEN excluded.last_error
              ELSE channel_health.last_error END`,
      );
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
