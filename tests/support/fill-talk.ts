import type pg from 'pg';

/** Puts exchanges behind the last one of a session, as if they had been asked there. */
export const fillTalk = async (
  database: pg.Client,
  uuid: string,
  words: readonly string[],
): Promise<number[]> => {
  const { rows } = await database.query<{ id: string }>(
    `WITH RECURSIVE last AS (
       SELECT s.id AS session, s.user_id, s.model, max(h.id) AS tail FROM sessions s
       JOIN history h ON h.session_id = s.id AND h.shown WHERE s.uuid = $1 GROUP BY s.id
     ), drawn AS (
       SELECT n, nextval('history_id_seq') AS id, words
       FROM unnest($2::text[]) WITH ORDINALITY AS w (words, n) ORDER BY n
     )
     INSERT INTO history (id, session_id, user_id, human, ai, model, state, prev_id)
     OVERRIDING SYSTEM VALUE
     SELECT d.id, l.session, l.user_id, d.words, '记下了。', l.model, 'done',
       coalesce(lag(d.id) OVER (ORDER BY d.n), l.tail)
     FROM drawn d, last l ORDER BY d.n RETURNING id`,
    [uuid, words],
  );
  return rows.map(({ id }) => Number(id));
};
