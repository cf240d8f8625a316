import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Person } from './people.ts';

/** Orders of the last months with what happened to them, what clients told of models, notices. */
export const fillBooks = async (pool: pg.Pool, people: readonly Person[], tokens: number) => {
  const ids = people.map(({ id }) => id);
  const count = Math.max(30, Math.min(20_000, people.length * 3));
  await pool.query(
    `WITH made AS (
       INSERT INTO orders (number, user_id, kind, type, quantity, title, amount, tokens, provider,
         state, transaction_id, remarks, created_at, expires_at, paid_at, closed_at)
       SELECT 'Q' || to_char(at, 'YYYYMMDD') || right($2::text || lpad(n::text, 8, '0'), 12), person,
         CASE WHEN vip THEN 'vip' ELSE 'token' END, CASE WHEN vip THEN 2 ELSE 1 END, q,
         CASE WHEN vip THEN '会员 ' || q || ' 个月' ELSE '充值 ' || q || ' 百万 token' END,
         CASE WHEN vip THEN 2600 ELSE 2000 END * q, CASE WHEN vip THEN 0 ELSE 1000000 * q END,
         provider, CASE WHEN dice < 0.75 THEN 'paid' ELSE 'closed' END,
         CASE WHEN dice < 0.75 THEN 'demo-' || $2::text || n ELSE '' END,
         CASE WHEN dice < 0.02 THEN '电话里核对过' ELSE '' END, at, at + interval '2 hours',
         CASE WHEN dice < 0.75 THEN at + interval '1 minute' END,
         CASE WHEN dice >= 0.75 THEN at + interval '2 hours' END
       FROM (SELECT row_number() OVER (ORDER BY at) AS n, person, vip, q, dice, provider, at
         FROM (SELECT ($1::bigint[])[1 + floor(random() * array_length($1, 1))::int] AS person,
           random() < 0.3 AS vip, 1 + floor(random() ^ 2 * 6)::int AS q, random() AS dice,
           (ARRAY['wechat', 'alipay', 'sandbox'])[1 + floor(random() * 3)::int] AS provider,
           now() - random() ^ 2 * interval '90 days' - interval '3 hours' AS at
         FROM generate_series(1, $3::int)) drawn ORDER BY at) plan
       RETURNING id, state, created_at, paid_at, closed_at
     )
     INSERT INTO order_events (order_id, event, state, created_at)
     SELECT id, 'created', 'created', created_at FROM made
     UNION ALL SELECT id, 'paid', 'paid', paid_at FROM made WHERE paid_at IS NOT NULL
     UNION ALL SELECT id, 'closed', 'closed', closed_at FROM made WHERE closed_at IS NOT NULL`,
    [ids, randomBytes(2).readUInt16BE().toString().padStart(5, '0').slice(0, 4), count],
  );
  // Today has something to show, too.
  await pool.query(
    `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
       deduct_tokens, current_balance, created_at)
     SELECT ($1::bigint[])[1 + floor(random() * array_length($1, 1))::int], 0, m.name,
       '演示：近来的提问', 200, 300, $2::int + floor(random() * $2::int)::int, 10000000,
       now() - CASE WHEN n <= 60 THEN random() * interval '20 hours'
         ELSE random() ^ 1.5 * interval '80 days' END
     FROM generate_series(1, 600) n,
       (SELECT name FROM models WHERE type = 0 AND enabled LIMIT 1) m`,
    [ids, tokens],
  );
  await pool.query(
    `INSERT INTO usage_days
     SELECT user_id, (created_at AT TIME ZONE 'Asia/Shanghai')::date, type, model, count(*),
       count(*), sum(prompt_tokens), sum(completion_tokens), sum(deduct_tokens)
     FROM consumptions WHERE user_id = ANY($1) GROUP BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
    [ids],
  );
  await pool.query(
    `INSERT INTO model_stats (user_id, model, state, first_time, time, request_time, created_at)
     SELECT user_id, model, CASE WHEN random() < 0.04 THEN 'error' ELSE 'success' END,
       300 + floor(random() ^ 3 * 4000)::int, 2000 + floor(random() ^ 2 * 20000)::int,
       created_at, created_at
     FROM consumptions WHERE user_id = ANY($1) AND created_at > now() - interval '3 months'
     ORDER BY created_at DESC LIMIT 200000`,
    [ids],
  );
  await pool.query(
    `UPDATE users SET vip_activated_at = now() - interval '10 days',
       vip_expired_at = now() + interval '20 days'
     WHERE id = ANY($1) AND id % 7 = 0`,
    [ids],
  );
  await pool.query(
    `INSERT INTO training_projects (user_id, key, name, type, status, private, description)
     SELECT ($1::bigint[])[1 + n % array_length($1, 1)], 'demo_' || $2::text || '_' || n,
       (ARRAY['产品手册', '水彩画风', '合同翻译', '园艺笔记'])[1 + n % 4],
       (ARRAY[0, 1, 2, 0])[1 + n % 4], (ARRAY[1, 1, 0, 2])[1 + n % 4], n % 3 > 0, '演示项目'
     FROM generate_series(1, 12) n ON CONFLICT DO NOTHING`,
    [ids, randomBytes(3).toString('hex')],
  );
  for (const [days, content] of [
    [40, '## 欢迎使用鹊桥\n\n这里是演示数据。从首页开始第一个会话吧。'],
    [12, '## 充值优惠\n\n- 一次满 100 元减 5%\n- 一次满 400 元减 10%'],
    [1, '## 今晚例行维护\n\n凌晨 2:00 到 2:30 之间，回复可能会断，稍后自动接上。'],
  ] as const)
    await pool.query(
      `INSERT INTO notices (content, created_at, publish_at)
       SELECT $1::text, now() - make_interval(days => $2::int),
         now() - make_interval(days => $2::int)
       WHERE NOT EXISTS (SELECT FROM notices WHERE content = $1::text)`,
      [content, days],
    );
};

/** What waits for managers, and what they did. */
export const fillDesk = async (pool: pg.Pool, people: readonly Person[]) => {
  const ids = people.map(({ id }) => id);
  await pool.query(
    `INSERT INTO manager_acts (user_id, call, subject, input, before, after, ip, created_at)
     SELECT m.id, act.call, act.subject || p.person, '{}', act.before::jsonb, act.after::jsonb,
       '127.0.0.1', now() - n * interval '5 hours'
     FROM (SELECT min(id) AS id FROM users WHERE manager) m,
       generate_series(1, 24) n,
       LATERAL (SELECT ($1::bigint[])[1 + n % array_length($1, 1)] AS person) p,
       LATERAL (SELECT * FROM (VALUES
         (0, 'updateTokens', 'user:', '{"chatgpt_balance": 20000}', '{"chatgpt_balance": 70000}'),
         (1, 'updateUser', 'user:', '{"sessionBlacklist": false}', '{"sessionBlacklist": true}'),
         (2, 'activatedAbility', 'user:', '{"subscribe": 0}', '{"subscribe": 1}'),
         (3, 'updateUserSession', 'user:', '{"session_private": false}',
           '{"session_private": true, "hidden": 3}')
       ) kinds (at, call, subject, before, after) WHERE at = n % 4) act
     WHERE m.id IS NOT NULL ORDER BY n DESC`,
    [ids],
  );
  await pool.query(
    `WITH chosen AS (
       SELECT id, user_id, amount FROM orders o WHERE user_id = ANY($1) AND state = 'paid'
         AND NOT EXISTS (SELECT FROM invoice_orders i WHERE i.order_id = o.id) ORDER BY id DESC LIMIT 3
     ), made AS (
       INSERT INTO invoices (user_id, amount, kind, title, tax_number, email)
       SELECT user_id, amount, 'company', '演示科技有限公司', '91310000MA1FL00000',
         'demo' || id || '@example.com' FROM chosen RETURNING id, email
     )
     INSERT INTO invoice_orders (order_id, invoice_id)
     SELECT c.id, m.id FROM chosen c JOIN made m ON m.email = 'demo' || c.id || '@example.com'`,
    [ids],
  );
  await pool.query(
    `INSERT INTO payment_differences (provider, number, kind, detail, created_at)
     SELECT provider, number, 'amount', '账单上是 ' || (amount / 100.0)::numeric(10, 2) - 0.01 || ' 元',
       now() - interval '1 day'
     FROM orders WHERE user_id = ANY($1) AND state = 'paid' AND provider <> 'sandbox'
     ORDER BY id DESC LIMIT 2 ON CONFLICT DO NOTHING`,
    [ids],
  );
  await pool.query(
    `INSERT INTO reports (user_id, session_id, reason, note, excerpt, created_at)
     SELECT $1, id, 'other', '和这里没有关系', left(prompt, 80), now() - interval '3 hours'
     FROM sessions WHERE type = 2 AND NOT private AND deleted_at IS NULL AND user_id = ANY($2)
     ORDER BY id DESC LIMIT 3`,
    [ids[0], ids],
  );
  await pool.query(
    `INSERT INTO blocked_words (word) VALUES ('代写论文'), ('加微信领红包'), ('包过')
     ON CONFLICT DO NOTHING`,
  );
};
