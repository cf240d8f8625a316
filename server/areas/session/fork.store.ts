import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { history } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';

/** A message as far as taking over its session needs it. */
export const findForkPoint = async (db: Executor, historyId: number) => {
  const [row] = await db
    .select({
      sessionId: history.sessionId,
      /** The last message before it that is shown, or itself. */
      shownUpTo: sql<number>`(CASE WHEN ${history.shown} THEN ${history.id} ELSE ${history.prevId} END)::float8`,
      // Of two answers beside each other one is shown, and either can be taken.
      visible: sql<boolean>`${history.shown} OR (${history.besideGroup} <> 0 AND EXISTS (
        SELECT FROM history b WHERE b.session_id = ${history.sessionId}
          AND b.beside_group = ${history.besideGroup} AND b.shown))`,
    })
    .from(history)
    .where(eq(history.id, historyId));
  return row ?? null;
};

const pathSize = statement<{ messages: number; bytes: number }>(
  'session_fork_size',
  `SELECT count(*)::int AS messages, coalesce(sum(octet_length(human) + octet_length(ai) + octet_length(reasoning)
     + coalesce(pg_column_size(tools), 0) + coalesce(pg_column_size(sources), 0)
     + coalesce(pg_column_size(request), 0)), 0)::float8 AS bytes
   FROM history WHERE session_id = $1 AND state <> 'streaming' AND ((shown AND id <= $3) OR id = $2)`,
);

/** How many messages a copy of a session up to a message has, and the bytes that they take. */
export const sizeOfCopy = async (
  tx: Executor,
  from: number,
  point: { historyId: number; shownUpTo: number },
): Promise<{ messages: number; bytes: number }> =>
  (await pathSize(tx, [from, point.historyId, point.shownUpTo]))[0] ?? { messages: 0, bytes: 0 };

const copyPath = statement<{ replies: number; ai: string | null }>(
  'session_fork',
  // The numbers are drawn in the order of the old ones, so that along the path they grow again.
  `WITH path AS MATERIALIZED (
     SELECT nextval(pg_get_serial_sequence('history', 'id')) AS new_id, ordered.*
     FROM (SELECT * FROM history WHERE session_id = $1 AND state <> 'streaming'
             AND ((shown AND id <= $3) OR id = $2) ORDER BY id) ordered
   ), copied AS (
     INSERT INTO history (id, session_id, user_id, human, ai, reasoning, parts, type, model, state,
       error_code, error_message, created_at, answered_at, request, with_template, title, sources, tools, prev_id)
     OVERRIDING SYSTEM VALUE
     SELECT new_id, $4, $5, human, ai, reasoning, parts, type, model, state, error_code,
       error_message, created_at, answered_at,
       CASE WHEN user_id <> $5 AND jsonb_array_length(request->'files') > 0
         THEN jsonb_set(request, '{files}', (
           SELECT jsonb_agg(f || '{"uuid": "00000000-0000-0000-0000-000000000000"}'::jsonb)
           FROM jsonb_array_elements(request->'files') f))
         ELSE request END, with_template, title, sources,
       (SELECT jsonb_agg(CASE WHEN user_id <> $5 AND (t->>'own')::boolean
          THEN t || '{"arguments": "", "result": ""}' ELSE t END)
        FROM jsonb_array_elements(tools) t),
       lag(new_id, 1, 0::bigint) OVER (ORDER BY new_id)
     FROM path
   )
   SELECT (SELECT count(*) FROM path WHERE ai <> '')::int AS replies,
     (SELECT ai FROM path WHERE ai <> '' ORDER BY new_id DESC LIMIT 1) AS ai`,
);

/**
 * Copies what a session shows up to a message into another one. What it cost stays with those who
 * paid, and attached files with those who own them: a copy has their names alone. Gives how many replies there are and the text of the last.
 */
export const copyMessages = async (
  tx: Executor,
  {
    from,
    point,
    into,
  }: {
    from: number;
    point: { historyId: number; shownUpTo: number };
    into: { sessionId: number; userId: number };
  },
): Promise<{ replies: number; lastReply: string }> => {
  const [row] = await copyPath(tx, [
    from,
    point.historyId,
    point.shownUpTo,
    into.sessionId,
    into.userId,
  ]);
  return { replies: row?.replies ?? 0, lastReply: row?.ai ?? '' };
};
