import { serverNow } from '#src/platform/server-clock.ts';
import type { Session } from '#contract/session.ts';

const dayMs = 86_400_000;

/** Under which heading a session stands in one's own list: pinned, or by how long ago it was used. */
export const groupOf = (session: Pick<Session, 'on_top' | 'updated_at'>, now: Date): string => {
  if (session.on_top) return '置顶';
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const at = Date.parse(session.updated_at);
  if (at >= midnight) return '今天';
  if (at >= midnight - dayMs) return '昨天';
  return at >= midnight - 6 * dayMs ? '7 天内' : '更早';
};

/** The heading before a session, where its group begins; null elsewhere. */
export const headingAt = (
  sessions: readonly Pick<Session, 'on_top' | 'updated_at'>[],
  at: number,
  now = new Date(serverNow()),
): string | null => {
  const [here, before] = [sessions[at], sessions[at - 1]];
  if (!here) return null;
  const group = groupOf(here, now);
  return before && groupOf(before, now) === group ? null : group;
};
