import type pg from 'pg';
import { regulars, type Stage } from './stage.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Append-only tables let the demo's own new rows move to their time, in this transaction alone. */
const heldStill = [
  ['ledger', 'ledger_append_only'],
  ['order_events', 'order_events_append_only'],
  ['manager_acts', 'manager_acts_are_kept'],
] as const;

export const unlocked = async (client: pg.PoolClient, work: () => Promise<void>): Promise<void> => {
  await client.query('BEGIN');
  try {
    await client.query('SET LOCAL statement_timeout = 0');
    for (const [table, trigger] of heldStill)
      await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`);
    await work();
    for (const [table, trigger] of heldStill)
      await client.query(`ALTER TABLE ${table} ENABLE TRIGGER ${trigger}`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
};

/** People sleep: what would be written between one and seven in China is written in the morning. */
const awake = (at: number): number => {
  const hourThere = Math.floor(at / hour + 8) % 24;
  return hourThere >= 1 && hourThere < 7 ? at + 6 * hour : at;
};

interface MessageRow {
  id: string;
  session_id: string;
  type: number;
}

/**
 * Lays all that was just made over the past weeks, in the order in which it was made: questions and
 * pictures over five weeks, the newest of some minutes ago.
 */
export const spreadTimes = async ({ pool, players, chance }: Stage): Promise<void> => {
  const people = players.map(({ id }) => id);
  const client = await pool.connect();
  try {
    await unlocked(client, async () => {
      const { rows } = await client.query<MessageRow>(
        `SELECT h.id, h.session_id, s.type FROM history h JOIN sessions s ON s.id = h.session_id
         WHERE s.user_id = ANY($1) ORDER BY s.id, h.id`,
        [people],
      );
      const counts = new Map<number, number>();
      for (const { id: _, session_id, type } of rows)
        if (!counts.has(Number(session_id))) counts.set(Number(session_id), type);
      const ofType = new Map<number, number>();
      for (const type of counts.values()) ofType.set(type, (ofType.get(type) ?? 0) + 1);
      const seen = new Map<number, number>();
      const starts = new Map<number, number>();
      const now = Date.now();
      for (const [session, type] of counts) {
        const nth = (seen.get(type) ?? 0) + 1;
        seen.set(type, nth);
        const left = 1 - nth / (ofType.get(type) ?? 1);
        starts.set(session, now - left ** 1.3 * 35 * day - chance.next() * 9 * hour - 6 * 60_000);
      }
      const at: Date[] = [];
      let session = 0;
      let last = 0;
      for (const row of rows) {
        const next =
          Number(row.session_id) === session
            ? awake(last + chance.next() ** 2 * 20 * hour + 90_000)
            : awake(starts.get(Number(row.session_id)) ?? now);
        const before = Number(row.session_id) === session ? last : now - 9 * hour;
        session = Number(row.session_id);
        // What would not have happened yet lies somewhere before now.
        last = next < now - 60_000 ? next : before + (now - 60_000 - before) * chance.next();
        at.push(new Date(last));
      }
      await client.query(
        `UPDATE history h SET created_at = v.at,
           answered_at = CASE WHEN h.answered_at IS NULL THEN NULL ELSE v.at + interval '12 seconds' END
         FROM unnest($1::bigint[], $2::timestamptz[]) v (id, at) WHERE h.id = v.id`,
        [rows.map(({ id }) => id), at],
      );
      await follow(client, people);
    });
  } finally {
    client.release();
  }
};

/** What belongs to messages and to people goes to the times of those. */
const follow = async (client: pg.PoolClient, people: number[]): Promise<void> => {
  const statements = [
    `UPDATE sessions s SET created_at = h.first, updated_at = h.last
     FROM (SELECT session_id, min(created_at) AS first, max(created_at) AS last FROM history
       GROUP BY 1) h WHERE h.session_id = s.id AND s.user_id = ANY($1)`,
    `UPDATE sessions s SET created_at = now() - random() * interval '30 days',
       updated_at = now() - random() * interval '5 days' - interval '1 hour'
     WHERE s.user_id = ANY($1) AND NOT EXISTS (SELECT FROM history WHERE session_id = s.id)`,
    `UPDATE sessions s SET prompt = c.name FROM scenarios c
     WHERE c.id = s.scenario_id AND s.prompt = '' AND s.user_id = ANY($1)`,
    ...['images', 'videos'].map(
      (table) => `UPDATE ${table} w SET created_at = h.created_at + interval '20 seconds'
        FROM history h WHERE h.id = w.history_id AND w.user_id = ANY($1)`,
    ),
    `UPDATE jobs j SET created_at = h.created_at, started_at = h.created_at + interval '1 second',
       finished_at = h.created_at + interval '20 seconds'
     FROM history h WHERE h.id = j.history_id AND j.user_id = ANY($1)`,
    `UPDATE likes l SET created_at = least(now(), h.created_at + random() * interval '30 hours')
     FROM history h WHERE h.id = l.history_id AND l.user_id = ANY($1)`,
    `UPDATE forum_replies r SET at = h.last FROM (SELECT user_id, session_id, max(created_at) AS last
       FROM history GROUP BY 1, 2) h
     WHERE h.user_id = r.user_id AND h.session_id = r.session_id AND r.user_id = ANY($1)`,
    `UPDATE news n SET created_at = h.created_at FROM history h
     WHERE h.id = n.history_id AND n.user_id = ANY($1)`,
    `UPDATE scenarios SET created_at = now() - random() * interval '30 days' WHERE user_id = ANY($1)`,
    `UPDATE training_projects SET created_at = now() - interval '20 days' - random() * interval '9 days',
       updated_at = now() - random() * interval '20 days' WHERE user_id = ANY($1)`,
    `UPDATE manager_acts a SET created_at = v.at FROM (
       SELECT id, now() - interval '25 minutes'
         - (1 - row_number() OVER (ORDER BY id) / (count(*) OVER ())::float) ^ 1.3 * interval '30 days' AS at
       FROM manager_acts WHERE user_id = ANY($1)) v WHERE v.id = a.id`,
    `UPDATE reports SET created_at = now() - random() * interval '20 hours' WHERE user_id = ANY($1)`,
    `UPDATE favorites SET created_at = now() - random() * interval '12 days' WHERE user_id = ANY($1)`,
    `UPDATE model_uses SET created_at = now() - random() ^ 1.4 * interval '33 days'
     WHERE user_id = ANY($1)`,
    `UPDATE app_comments SET created_at = now() - random() * interval '25 days' WHERE user_id = ANY($1)`,
    `UPDATE app_downloads SET created_at = now() - random() * interval '25 days' WHERE user_id = ANY($1)`,
    `UPDATE orders o SET created_at = v.at, expires_at = v.at + interval '2 hours',
       paid_at = CASE WHEN o.paid_at IS NULL THEN NULL ELSE v.at + interval '1 minute' END,
       closed_at = CASE WHEN o.closed_at IS NULL THEN NULL ELSE v.at + interval '2 hours' END
     FROM (SELECT id, now() - (1 - row_number() OVER (ORDER BY id) / (count(*) OVER ())::float)
         ^ 1.4 * interval '355 days' - interval '3 hours' AS at FROM orders
       WHERE user_id = ANY($1) AND provider <> '') v WHERE v.id = o.id`,
    `UPDATE orders SET created_at = v.at, paid_at = v.at FROM (
       SELECT id, now() - random() * interval '25 days' AS at FROM orders
       WHERE user_id = ANY($1) AND provider = '') v WHERE v.id = orders.id`,
    `UPDATE order_events e SET created_at = CASE WHEN e.event = 'created' THEN o.created_at
         ELSE coalesce(o.paid_at, o.closed_at, o.created_at) END
     FROM orders o WHERE o.id = e.order_id AND o.user_id = ANY($1)`,
    // A number holds its day; what is entered for an order is entered when it is paid.
    ...['sandbox_trades t SET paid_at = o.paid_at,', 'orders t SET'].map(
      (each) => `UPDATE ${each} created_at = o.created_at, number = overlay(o.number PLACING
           to_char(o.created_at AT TIME ZONE 'Asia/Shanghai', 'YYYYMMDD') FROM 2 FOR 8)
         FROM orders o WHERE o.number = t.number AND o.number LIKE 'Q%' AND o.user_id = ANY($1)`,
    ),
    `UPDATE ledger l SET created_at = o.paid_at FROM orders o
     WHERE l.reference = 'order:' || o.id AND o.paid_at IS NOT NULL AND o.user_id = ANY($1)`,
    // Regulars came over the year, one by one; the others lately, just before the first thing they made.
    `UPDATE users u SET created_at = CASE WHEN p.nth <= ${regulars}
         THEN now() - interval '36 days' - (1 - p.nth / ${regulars}.0) * interval '328 days'
         ELSE coalesce((SELECT min(i.created_at) FROM images i WHERE i.user_id = u.id),
           now() - interval '3 days') - interval '20 minutes' END
     FROM unnest($1::bigint[]) WITH ORDINALITY p (id, nth) WHERE u.id = p.id`,
    `UPDATE ledger SET created_at = u.created_at FROM users u
     WHERE u.id = ledger.user_id AND u.id = ANY($1) AND ledger.kind = 'grant'`,
  ];
  for (const text of statements) await client.query(text, [people]);
  await client.query(
    `UPDATE notices n SET created_at = v.at, publish_at = v.at FROM (
       SELECT id, date_trunc('day', now() AT TIME ZONE 'Asia/Shanghai') AT TIME ZONE 'Asia/Shanghai'
         - (count(*) OVER () - row_number() OVER (ORDER BY id)) * interval '9 days'
         - interval '13 hours 40 minutes' AS at FROM demo_things WHERE kind = 'notices') v WHERE v.id = n.id`,
  );
  await client.query(
    `UPDATE apps a SET created_at = v.at, published_at = v.at, updated_at = v.at FROM (
       SELECT id, now() - interval '28 days' - random() * interval '60 days' AS at
       FROM demo_things WHERE kind = 'apps') v WHERE v.id = a.id`,
  );
  await client.query(
    `UPDATE app_versions v SET created_at = a.published_at FROM apps a
     WHERE a.id = v.app_id AND a.id IN (SELECT id FROM demo_things WHERE kind = 'apps')`,
  );
};

/**
 * What people used in a year, more and more of it: each use with its line in the books, so that
 * every wallet still holds what its lines add up to.
 */
export const addUsage = async ({ pool, players }: Stage): Promise<void> => {
  const people = players.map(({ id }) => id);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `WITH drawn AS MATERIALIZED (
         SELECT u.id AS user_id, 60 + floor(random() * 400)::int AS prompt,
           120 + floor(random() * 900)::int AS completion,
           200 + floor(random() ^ 2 * 1800)::int AS deduct,
           (ARRAY['deepseek-chat', 'deepseek-chat', 'qwen-plus', 'glm-4-flash'])[
             1 + floor(random() * 4)::int] AS model,
           now() - random() ^ 1.4 * (now() - u.created_at) AS at
         FROM (SELECT ($1::bigint[])[1 + floor(random() ^ 1.5 * array_length($1, 1))::int] AS id
           FROM generate_series(1, 4000)) picked JOIN users u USING (id)
       ), used AS (
         INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
           deduct_tokens, current_balance, created_at)
         SELECT user_id, 0, model, '', prompt, completion, deduct,
           20000 + sum(deduct) OVER (PARTITION BY user_id ORDER BY at DESC), at
         FROM drawn ORDER BY at RETURNING *
       ), entered AS (
         INSERT INTO ledger (user_id, pot, kind, amount, reference, remark, created_at)
         SELECT user_id, 'balance', 'spend', -deduct_tokens, '', '', created_at FROM used
         UNION ALL
         SELECT user_id, 'balance', 'grant', sum(deduct_tokens), '', '演示赠送', min(u.created_at)
         FROM used JOIN users u ON u.id = user_id GROUP BY user_id
       ), counted AS (
         INSERT INTO model_uses (user_id, type, model, channel_id, failed, prompt_tokens,
           completion_tokens, deduct_tokens, created_at)
         SELECT user_id, type, model, NULL, random() < 0.02, prompt_tokens, completion_tokens, deduct_tokens, created_at
         FROM used WHERE created_at > now() - interval '90 days'
       )
       INSERT INTO model_stats (user_id, model, state, first_time, time, request_time, created_at)
       SELECT user_id, model, CASE WHEN random() < 0.02 THEN 'error' ELSE 'success' END,
         250 + floor(random() ^ 3 * 2500)::int, 1500 + floor(random() ^ 2 * 9000)::int,
         created_at, created_at FROM used WHERE created_at > now() - interval '3 months'`,
      [people],
    );
    await client.query(
      `INSERT INTO usage_days
       SELECT user_id, (created_at AT TIME ZONE 'Asia/Shanghai')::date, type, model, count(*),
         count(*), sum(prompt_tokens), sum(completion_tokens), sum(deduct_tokens)
       FROM consumptions WHERE user_id = ANY($1) GROUP BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
      [people],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};
