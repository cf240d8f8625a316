import type { StoredSource } from '#contract/embedding.ts';
import { and, eq, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { history } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import type { FoundMessage, Place } from './chat.store.ts';

/** So many messages that follow the same one are told of. */
const mostFollowers = 100;

export interface Follower {
  id: number;
  prevId: number;
  besideGroup: number;
  branchRank: number;
}

const followers = statement<Follower & Record<string, unknown>>(
  'branch_followers',
  `SELECT f.id::float8, f.prev_id::float8 AS "prevId", f.beside_group::float8 AS "besideGroup",
     f.branch_rank AS "branchRank"
   FROM unnest($2::bigint[]) asked (prev) CROSS JOIN LATERAL (
     SELECT id, prev_id, beside_group, branch_rank FROM history
     WHERE session_id = $1 AND prev_id = asked.prev
     ORDER BY branch_rank DESC, id DESC LIMIT ${mostFollowers}
   ) f ORDER BY f.id`,
);

/** What follows one of these (0: what begins the session) and was looked at last, oldest first. */
export const followersOf = (
  db: Executor,
  sessionId: number,
  prevIds: readonly number[],
): Promise<Follower[]> => followers(db, [sessionId, [...new Set(prevIds)]]);

const cut = statement<{ rank: number }>(
  'branch_cut',
  `WITH hidden AS (
     UPDATE history SET shown = false WHERE session_id = $1 AND shown AND id > $2
   )
   SELECT coalesce(max(branch_rank), 0) + 1 AS rank FROM history
   WHERE session_id = $1 AND prev_id = $2`,
);

/** Hides what is shown behind a message (0: all); gives the place of a new branch there. */
export const startBranch = async (
  tx: Transaction,
  sessionId: number,
  prevId: number,
): Promise<Place> => {
  const [row] = await cut(tx, [sessionId, prevId]);
  return { prevId, rank: row?.rank ?? 0 };
};

const show = statement<{ running: boolean }>(
  'branch_show',
  // Up from the message to the branch that is shown, and down to the branch looked at last. The
  // parts of one statement all see the rows as they were before it.
  `WITH RECURSIVE up AS (
     SELECT id, prev_id FROM history WHERE id = $2 AND session_id = $1
     UNION ALL
     SELECT before.id, before.prev_id FROM up JOIN history before
       ON before.id = up.prev_id AND before.session_id = $1 AND NOT before.shown
   ), down AS (
     SELECT $2::bigint AS id
     UNION ALL
     SELECT next.id FROM down, LATERAL (
       SELECT id FROM history WHERE session_id = $1 AND prev_id = down.id
       ORDER BY branch_rank DESC, id DESC LIMIT 1
     ) next
   ), path AS MATERIALIZED (
     SELECT id FROM up UNION SELECT id FROM down
   ), base AS MATERIALIZED (
     SELECT min(prev_id) AS id FROM up
   ), chosen AS (
     UPDATE history SET shown = true, branch_rank = CASE
       WHEN history.id IN (SELECT id FROM up) THEN (
         SELECT max(same.branch_rank) + 1 FROM history same
         WHERE same.session_id = $1 AND same.prev_id = history.prev_id)
       ELSE branch_rank END
     WHERE session_id = $1 AND id IN (SELECT id FROM path)
   ), hidden AS (
     UPDATE history SET shown = false
     WHERE session_id = $1 AND shown AND id > (SELECT id FROM base)
       AND id NOT IN (SELECT id FROM path)
     RETURNING state, beside_group
   )
   SELECT EXISTS (
     SELECT FROM hidden WHERE state = 'streaming' AND (beside_group = 0 OR beside_group <> $3)
   ) AS running`,
);

/**
 * Shows a hidden message with what leads to it and what was looked at last behind it. False when a
 * reply that is being written would be hidden by that: roll back then. Of two answers beside each
 * other either may be chosen at any time.
 */
export const showBranch = async (
  tx: Transaction,
  message: Pick<FoundMessage, 'id' | 'sessionId' | 'besideGroup'>,
): Promise<boolean> => {
  const [row] = await show(tx, [message.sessionId, message.id, message.besideGroup]);
  return row?.running === false;
};

const insertSecond = statement<{ id: number }>(
  'message_beside',
  `WITH second AS (
     INSERT INTO history (session_id, user_id, human, request, title, with_template, prev_id,
       branch_rank, beside_group, place, shown, state, model, owner, hold_id, sources)
     SELECT session_id, user_id, human, request, title, with_template, prev_id,
       branch_rank - 1, id, 1, false, 'streaming', $2, owner, $3, $4::jsonb
     FROM history WHERE id = $1
     ON CONFLICT DO NOTHING
     RETURNING id
   ), first AS (
     UPDATE history SET beside_group = id WHERE id = $1 AND EXISTS (SELECT FROM second)
   )
   SELECT id::float8 FROM second`,
);

/** Puts a second answer beside a message; null while another second one is being written. */
export const insertBeside = async (
  tx: Transaction,
  firstId: number,
  {
    model,
    holdId,
    sources,
  }: { model: string; holdId: string | null; sources: StoredSource[] | null },
): Promise<number | null> => {
  const kept = sources === null ? null : JSON.stringify(sources);
  const [row] = await insertSecond(tx, [firstId, model, holdId, kept]);
  return row?.id ?? null;
};

const relink = statement<{ shown: boolean }>(
  'branch_relink',
  `UPDATE history SET prev_id = $3, branch_rank = branch_rank + CASE WHEN shown THEN (
     SELECT coalesce(max(greatest(heir.branch_rank, 0)), 0) + 1 FROM history heir
     WHERE heir.session_id = $1 AND heir.prev_id = $3) ELSE 0 END
   WHERE session_id = $1 AND prev_id = $2
   RETURNING shown`,
);

/** The newest branch behind a message (0: of the session), as whoever looks there would see it. */
const latestAt = async (tx: Transaction, sessionId: number, prevId: number) => {
  const rows = await tx
    .select({ id: history.id, sessionId: history.sessionId, besideGroup: history.besideGroup })
    .from(history)
    .where(and(eq(history.sessionId, sessionId), eq(history.prevId, prevId)))
    .orderBy(sql`${history.branchRank} DESC, ${history.id} DESC`)
    .limit(1);
  return rows[0] ?? null;
};

/**
 * Takes a message out of its tree. What followed it follows the answer beside it, or what was
 * before; where nothing shown followed it, that answer or the branch looked at last is shown.
 */
export const removeFromBranch = async (tx: Transaction, message: FoundMessage): Promise<void> => {
  const { id, sessionId, prevId, besideGroup } = message;
  const [partner] =
    besideGroup === 0
      ? []
      : await tx
          .update(history)
          .set({ besideGroup: 0 })
          .where(
            and(
              eq(history.sessionId, sessionId),
              eq(history.prevId, prevId),
              eq(history.besideGroup, besideGroup),
              sql`${history.id} <> ${id}`,
            ),
          )
          .returning({ id: history.id });
  const followers = await relink(tx, [sessionId, id, partner?.id ?? prevId]);
  await tx.delete(history).where(eq(history.id, id));
  if (!message.shown) return;
  if (followers.some((follower) => follower.shown)) {
    if (partner) await tx.update(history).set({ shown: true }).where(eq(history.id, partner.id));
    return;
  }
  const next = partner
    ? { id: partner.id, sessionId, besideGroup: 0 }
    : await latestAt(tx, sessionId, prevId);
  if (next) await showBranch(tx, next);
};
