import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pino from 'pino';
import type pg from 'pg';
import { hashPassword } from '#server/areas/auth/password.ts';
import { excerptOf, summaryOf, titleOf } from '#common/markdown/digest.ts';
import { connectDatabase } from '#server/db/connect.ts';
import type { Database } from '#server/db/database.ts';
import { StartupError } from '#server/db/startup-error.ts';
import { joinInstances } from '#server/db/instance.ts';
import { createModelService } from '#server/areas/model/model.service.ts';
import { rollUp } from '#server/areas/stats/roll-up.store.ts';
import { indexQueued } from '#server/areas/session/search.service.ts';
import { readSettings } from '#server/settings.ts';
import { livingPlace } from './demo/place.ts';
import { between, conversation, personName, pick } from './demo-text.ts';

/**
 * `npm run demo` fills every area as after a good month (demo/place.ts). With `--messages 10000` or
 * `--users n` it adds so many people and conversations to measure with instead: each run adds new
 * ones, and nothing that is there is touched.
 */

const day = 24 * 60 * 60_000;
const batchSize = 2000;

const wholeNumber = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new StartupError(`--${name} 应为正整数`);
  return value;
};

interface Person {
  id: number;
  balance: number;
}

interface SessionPlan {
  id: number;
  /** 0 a chat, 2 a question to people or, with a friend, the talk of two. */
  type: 0 | 2;
  person: Person;
  friend?: Person;
  model: { name: string; factor: number; promptFactor: number };
  start: Date;
  length: number;
}

/** Rows on their way to one table: columns of equal length, sent as arrays. */
class Batch<Column extends string> {
  readonly #pool: pg.Pool;
  readonly #names: Column[];
  readonly #sql: string;
  readonly #columns: unknown[][];
  readonly #sending = new Set<Promise<unknown>>();

  constructor(pool: pg.Pool, table: string, columns: Record<Column, string>, always = false) {
    const names = Object.keys(columns) as Column[];
    this.#pool = pool;
    this.#names = names;
    this.#columns = names.map(() => []);
    this.#sql = `INSERT INTO ${table} (${names.join(', ')}) ${always ? 'OVERRIDING SYSTEM VALUE' : ''}
      SELECT * FROM unnest(${names
        .map((name, index) => `$${index + 1}::${columns[name]}[]`)
        .join(', ')})`;
  }

  async add(row: Record<Column, unknown>): Promise<void> {
    this.#names.forEach((name, index) => this.#columns[index]?.push(row[name]));
    if ((this.#columns[0]?.length ?? 0) >= batchSize) await this.#send();
  }

  async #send(): Promise<void> {
    const values = this.#columns.map((column) => column.splice(0));
    const sent = this.#pool.query(this.#sql, values).finally(() => this.#sending.delete(sent));
    this.#sending.add(sent);
    // A little ahead of the database, not far: what waits is in memory.
    if (this.#sending.size >= 2) await Promise.race(this.#sending);
  }

  async finish(): Promise<void> {
    if ((this.#columns[0]?.length ?? 0) > 0) await this.#send();
    await Promise.all(this.#sending);
  }
}

const reserveIds = async (pool: pg.Pool, table: string, count: number): Promise<number[]> => {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT nextval(pg_get_serial_sequence($1, 'id')) AS id FROM generate_series(1, $2)`,
    [table, count],
  );
  return rows.map((row) => Number(row.id));
};

const addPeople = async (
  pool: pg.Pool,
  count: number,
): Promise<{ people: Person[]; accounts: string[]; password: string }> => {
  const password = randomBytes(6).toString('hex');
  const passwordHash = await hashPassword(password);
  const run = randomBytes(3).toString('hex');
  const ids = await reserveIds(pool, 'users', count);
  const users = new Batch(
    pool,
    'users',
    {
      id: 'bigint',
      account: 'text',
      user_name: 'text',
      password_hash: 'text',
      created_at: 'timestamptz',
    },
    true,
  );
  const wallets = new Batch(pool, 'wallets', { user_id: 'bigint', balance: 'bigint' });
  const accounts = ids.map((_, index) => `demo_${run}_${index + 1}`);
  for (const [index, id] of ids.entries()) {
    const since = new Date(Date.now() - (1 + 399 * Math.sqrt(1 - (index + 1) / ids.length)) * day);
    await users.add({
      id,
      account: accounts[index],
      user_name: personName(),
      password_hash: passwordHash,
      created_at: since,
    });
  }
  await users.finish();
  for (const id of ids) await wallets.add({ user_id: id, balance: 0 });
  await wallets.finish();
  return { people: ids.map((id) => ({ id, balance: 0 })), accounts, password };
};

/** Most conversations are short, a few are very long. */
const lengthOfSession = (): number => {
  const dice = Math.random();
  if (dice < 0.7) return between(1, 8);
  if (dice < 0.97) return between(9, 40);
  return between(41, 400);
};

/** Share of sessions that are questions to people, and of answers that were asked for once more. */
const ofPeople = 0.02;
const askedAgain = 0.02;
/** A pair of friends for so many people. */
const peopleAPair = 10;

interface Written {
  human: string;
  ai: string;
  person: Person;
  at: Date;
  answered: Date;
  /** Another answer to it follows and is the one shown. */
  replaced: boolean;
}

/** What is said in a session. */
const write = (plan: SessionPlan, people: readonly Person[]): Written[] => {
  const talk = conversation();
  const rows: Written[] = [];
  let at = plan.start.getTime();
  for (let index = 0; index < plan.length; index++) {
    const human = plan.type === 2 && index > 0 ? talk.answer() : talk.ask(index);
    const person = index === 0 || plan.type === 0 ? plan.person : (plan.friend ?? pick(people));
    const answers = plan.type === 2 ? 0 : Math.random() < askedAgain ? 2 : 1;
    for (let answer = 0; answer < Math.max(1, answers); answer++) {
      const ai = answers === 0 ? '' : talk.answer();
      const answered = new Date(at + ai.length * 10);
      const replaced = answer + 1 < answers;
      rows.push({ human, ai, person, at: new Date(at), answered, replaced });
    }
    at += Math.min(between(20_000, 900_000), 10 * 60_000);
  }
  return rows;
};

const fill = async (pool: pg.Pool, people: Person[], messages: number, signupTokens: number) => {
  const { rows: models } = await pool.query<SessionPlan['model']>(
    `SELECT name, factor, coalesce(prompt_factor, factor) AS "promptFactor"
     FROM models WHERE type = 0 AND enabled`,
  );
  const lengths: number[] = [];
  for (let left = messages; left > 0;) {
    const length = Math.min(lengthOfSession(), left);
    lengths.push(length);
    left -= length;
  }
  const ids = await reserveIds(pool, 'sessions', lengths.length);
  const now = Date.now();
  // In the order of time, as a real server would have numbered them.
  const starts = lengths
    .map((length) => now - length * 10 * 60_000 - Math.random() * 365 * day)
    .sort((a, b) => a - b);

  const sessions = new Batch(
    pool,
    'sessions',
    {
      id: 'bigint',
      uuid: 'uuid',
      type: 'smallint',
      user_id: 'bigint',
      model: 'text',
      prompt: 'text',
      summary: 'text',
      private: 'boolean',
      reply_count: 'integer',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    true,
  );
  const history = new Batch(
    pool,
    'history',
    {
      id: 'bigint',
      session_id: 'bigint',
      user_id: 'bigint',
      human: 'text',
      ai: 'text',
      parts: 'jsonb',
      title: 'text',
      model: 'text',
      state: 'text',
      prev_id: 'bigint',
      shown: 'boolean',
      branch_rank: 'integer',
      prompt_tokens: 'integer',
      completion_tokens: 'integer',
      deduct_tokens: 'bigint',
      created_at: 'timestamptz',
      answered_at: 'timestamptz',
    },
    true,
  );
  const friends = new Batch(pool, 'friends', {
    low_user_id: 'bigint',
    high_user_id: 'bigint',
    session_id: 'bigint',
  });
  const favorites = new Batch(pool, 'favorites', {
    user_id: 'bigint',
    session_id: 'bigint',
    history_id: 'bigint',
    created_at: 'timestamptz',
  });
  const likes = new Batch(pool, 'likes', {
    user_id: 'bigint',
    history_id: 'bigint',
    created_at: 'timestamptz',
  });
  const ledger = new Batch(pool, 'ledger', {
    user_id: 'bigint',
    pot: 'text',
    kind: 'text',
    amount: 'bigint',
    reference: 'text',
    remark: 'text',
    created_at: 'timestamptz',
  });
  const consumptions = new Batch(pool, 'consumptions', {
    user_id: 'bigint',
    type: 'smallint',
    model: 'text',
    human: 'text',
    prompt_tokens: 'integer',
    completion_tokens: 'integer',
    deduct_tokens: 'bigint',
    current_balance: 'bigint',
    created_at: 'timestamptz',
  });

  const enter = async (person: Person, kind: string, amount: number, remark: string, at: Date) => {
    person.balance += amount;
    await ledger.add({
      user_id: person.id,
      pot: 'balance',
      kind,
      amount,
      reference: kind === 'spend' ? randomUUID() : '',
      remark,
      created_at: at,
    });
  };
  const spend = async (person: Person, amount: number, at: Date): Promise<number> => {
    if (person.balance < amount) {
      await enter(person, 'grant', 1_000_000, '演示赠送', at);
    }
    const before = person.balance;
    await enter(person, 'spend', -amount, '', at);
    return before;
  };

  /** Adds the messages of a session, each behind the shown one before it. */
  const addMessages = async (plan: SessionPlan, rows: readonly Written[], ids: number[]) => {
    const { model } = plan;
    let shownBefore = 0;
    let rank = 0;
    for (const [index, { human, ai, person, at, answered, replaced }] of rows.entries()) {
      const answers = ai !== '';
      const promptTokens = answers ? Math.ceil(human.length * 0.7) + 20 : 0;
      const completionTokens = Math.ceil(ai.length * 0.6);
      const deduct = Math.ceil(promptTokens * model.promptFactor + completionTokens * model.factor);
      rank = replaced || rank > 0 ? rank + 1 : 0;
      await history.add({
        id: ids[index],
        session_id: plan.id,
        user_id: person.id,
        human,
        ai,
        parts: JSON.stringify(answers ? [0, ai.length] : []),
        title: plan.type === 2 && index === 0 && !plan.friend ? titleOf(human) : '',
        model: answers ? model.name : '',
        state: answers ? 'done' : 'none',
        prev_id: shownBefore,
        shown: !replaced,
        branch_rank: rank,
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        deduct_tokens: deduct,
        created_at: at,
        answered_at: answers ? answered : null,
      });
      if (!replaced) {
        shownBefore = ids[index] ?? 0;
        rank = 0;
      }
      if (deduct === 0) continue;
      const before = await spend(person, deduct, answered);
      await consumptions.add({
        user_id: person.id,
        type: 0,
        model: model.name,
        human: excerptOf(human),
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        deduct_tokens: deduct,
        current_balance: before,
        created_at: answered,
      });
    }
  };

  const since = new Date(now - 400 * day);
  for (const person of people) {
    await enter(person, 'grant', signupTokens, '注册赠送', since);
  }
  // Each pair has one session, so neighbours by their numbers are the pairs.
  const pairs = Math.min(Math.floor(people.length / peopleAPair), Math.floor(ids.length / 20));
  const shownByEverybody: { session: number; message: number }[] = [];
  let done = 0;
  // The messages refer to the sessions, so they wait for them: a round of sessions, then theirs.
  for (let first = 0; first < ids.length; first += batchSize) {
    const round = ids.slice(first, first + batchSize).map((id, index): SessionPlan => {
      const at = first + index;
      const ofFriends = at >= ids.length - pairs;
      const pair = (ids.length - 1 - at) * 2;
      return {
        id,
        type: ofFriends || Math.random() < ofPeople ? 2 : 0,
        // Some people write much more than others.
        person: ofFriends
          ? people[pair % people.length]!
          : people[Math.floor(people.length * Math.random() ** 2)]!,
        friend: ofFriends ? people[(pair + 1) % people.length] : undefined,
        model: pick(models),
        start: new Date(starts[at]!),
        length: lengths[at]!,
      };
    });
    const written = round.map((plan) => ({ plan, rows: write(plan, people) }));
    const count = written.reduce((sum, { rows }) => sum + rows.length, 0);
    const numbers = await reserveIds(pool, 'history', count);
    for (const { plan, rows } of written) {
      const last = rows.at(-1)!;
      await sessions.add({
        id: plan.id,
        uuid: randomUUID(),
        type: plan.type,
        user_id: plan.person.id,
        model: plan.type === 2 ? '' : plan.model.name,
        prompt: titleOf(rows[0]!.human),
        summary: summaryOf(last.ai || last.human),
        private: plan.friend ? true : plan.type === 0 && Math.random() < 0.7,
        reply_count: plan.length,
        created_at: plan.start,
        updated_at: last.answered,
      });
    }
    await sessions.finish();
    for (const { plan, rows } of written) {
      const own = numbers.splice(0, rows.length);
      await addMessages(plan, rows, own);
      if (plan.friend) {
        const [low, high] = [plan.person.id, plan.friend.id].sort((a, b) => a - b);
        await friends.add({ low_user_id: low, high_user_id: high, session_id: plan.id });
      } else if (Math.random() < 0.1) {
        shownByEverybody.push({ session: plan.id, message: own.at(-1)! });
      }
      done += plan.length;
    }
    console.log(`${done} / ${messages} 条消息`);
  }
  await history.finish();
  for (const { session, message } of shownByEverybody) {
    // Whoever likes a message often keeps it, too. People see public sessions alone.
    const fans = new Set(Array.from({ length: between(1, 3) }, () => pick(people).id));
    for (const user_id of fans) {
      const created_at = new Date(now - Math.random() * 30 * day);
      await likes.add({ user_id, history_id: message, created_at });
      if (Math.random() < 0.5)
        await favorites.add({
          user_id,
          session_id: session,
          history_id: Math.random() < 0.5 ? message : 0,
          created_at,
        });
    }
  }
  for (const batch of [friends, favorites, likes, ledger, consumptions]) await batch.finish();
  await pool.query(
    `UPDATE wallets SET balance = sums.balance
     FROM (SELECT user_id, sum(amount) AS balance FROM ledger
           WHERE user_id = ANY($1) GROUP BY user_id) sums
     WHERE wallets.user_id = sums.user_id`,
    [people.map((person) => person.id)],
  );
  // What is liked has to be public first: nobody sees the rest.
  const liked = shownByEverybody.map(({ message }) => message);
  await pool.query(
    `WITH liked AS (
       UPDATE history SET like_count = n.likes
       FROM (SELECT history_id, count(*)::int AS likes FROM likes WHERE history_id = ANY($1)
             GROUP BY history_id) n
       WHERE history.id = n.history_id RETURNING session_id, n.likes
     )
     UPDATE sessions SET like_count = liked.likes, private = false
     FROM liked WHERE sessions.id = liked.session_id`,
    [liked],
  );
  return ids.length;
};

/** Orders of the last months with what happened to them, what clients told of models, notices. */
const fillBooks = async (pool: pg.Pool, people: readonly Person[], tokens: number) => {
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
const fillDesk = async (pool: pg.Pool, people: readonly Person[]) => {
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

const index = async (db: Database): Promise<void> => {
  for (let sum = 0, told = 0; ;) {
    const done = await indexQueued(db, 2000);
    // A running server is at it: it goes on by itself.
    if (done === 0 || done === null) return;
    sum += done;
    if (sum - told >= 100_000) console.log(`${(told = sum)} 条消息可以搜索`);
  }
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      messages: { type: 'string' },
      users: { type: 'string' },
      remove: { type: 'boolean' },
    },
  });
  if (values.messages === undefined && values.users === undefined)
    return livingPlace(values.remove === true);
  const messages = wholeNumber('messages', values.messages, 10_000);
  const count = wholeNumber('users', values.users, Math.max(3, Math.ceil(messages / 200)));
  const settings = readSettings(process.env);
  const log = pino({ level: 'warn' });
  const { db, pool, connectionString, close } = await connectDatabase(settings, log);
  try {
    // The models that a first start would add.
    const instance = await joinInstances(connectionString, log);
    const models = createModelService({ db, settings, log, instance });
    await models.start();
    models.close();
    await instance.close();
    const began = Date.now();
    const { people, accounts, password } = await addPeople(pool, count);
    const sessions = await fill(pool, people, messages, settings.signupTokens);
    await fillBooks(pool, people, 2000);
    await fillDesk(pool, people);
    await db.transaction((tx) => rollUp(tx, true));
    await index(db);
    const client = await pool.connect();
    await client.query('SET statement_timeout = 0');
    await client.query('VACUUM (ANALYZE)');
    client.release(true);
    console.log(
      `已添加 ${count} 个账号、${sessions} 个会话、${messages} 条消息，用时 ${Math.round((Date.now() - began) / 1000)} 秒。\n` +
        `账号：${accounts[0]}${count > 1 ? ` 到 ${accounts.at(-1)}` : ''}，密码都是 ${password}`,
    );
  } finally {
    await close();
  }
};

try {
  await main();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
