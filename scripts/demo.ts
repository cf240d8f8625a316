import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pino from 'pino';
import type pg from 'pg';
import { hashPassword } from '../server/auth/password.ts';
import { excerptOf, summaryOf, titleOf } from '../server/chat/digest.ts';
import { connectDatabase } from '../server/db/connect.ts';
import { StartupError } from '../server/db/startup-error.ts';
import { createModelService } from '../server/model/model.service.ts';
import { readSettings } from '../server/settings.ts';
import { between, conversation, personName, pick } from './demo-text.ts';

/**
 * `npm run demo -- [--messages 10000] [--users n]`: adds people and their conversations to the
 * database of the current settings. Each run adds new people; nothing that is there is touched.
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
  person: Person;
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
  const since = new Date(Date.now() - 400 * day);
  for (const [index, id] of ids.entries()) {
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
  const history = new Batch(pool, 'history', {
    session_id: 'bigint',
    user_id: 'bigint',
    human: 'text',
    ai: 'text',
    parts: 'jsonb',
    model: 'text',
    state: 'text',
    prompt_tokens: 'integer',
    completion_tokens: 'integer',
    deduct_tokens: 'bigint',
    created_at: 'timestamptz',
    answered_at: 'timestamptz',
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

  const since = new Date(now - 400 * day);
  for (const person of people) {
    await enter(person, 'grant', signupTokens, '注册赠送', since);
  }
  // The messages refer to the sessions, so they wait for them: a round of sessions, then theirs.
  let done = 0;
  for (let first = 0; first < ids.length; first += batchSize) {
    const round: SessionPlan[] = ids.slice(first, first + batchSize).map((id, index) => ({
      id,
      // Some people write much more than others.
      person: people[Math.floor(people.length * Math.random() ** 2)]!,
      model: pick(models),
      start: new Date(starts[first + index]!),
      length: lengths[first + index]!,
    }));
    const written = [];
    for (const plan of round) {
      const talk = conversation();
      const rows = [];
      let at = plan.start.getTime();
      for (let index = 0; index < plan.length; index++) {
        const human = talk.ask(index);
        const ai = talk.answer();
        rows.push({ human, ai, at: new Date(at), answered: new Date(at + ai.length * 10) });
        at += Math.min(between(20_000, 900_000), 10 * 60_000);
      }
      const last = rows.at(-1)!;
      await sessions.add({
        id: plan.id,
        uuid: randomUUID(),
        user_id: plan.person.id,
        model: plan.model.name,
        prompt: titleOf(rows[0]!.human),
        summary: summaryOf(last.ai),
        private: Math.random() < 0.7,
        reply_count: rows.length,
        created_at: plan.start,
        updated_at: last.answered,
      });
      written.push({ plan, rows });
    }
    await sessions.finish();
    for (const { plan, rows } of written) {
      const { person, model } = plan;
      for (const { human, ai, at, answered } of rows) {
        const promptTokens = Math.ceil(human.length * 0.7) + 20;
        const completionTokens = Math.ceil(ai.length * 0.6);
        const deduct = Math.ceil(
          promptTokens * model.promptFactor + completionTokens * model.factor,
        );
        await history.add({
          session_id: plan.id,
          user_id: person.id,
          human,
          ai,
          parts: JSON.stringify([0, ai.length]),
          model: model.name,
          state: 'done',
          prompt_tokens: promptTokens,
          completion_tokens: completionTokens,
          deduct_tokens: deduct,
          created_at: at,
          answered_at: answered,
        });
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
      done += rows.length;
    }
    console.log(`${done} / ${messages} 条消息`);
  }
  for (const batch of [history, ledger, consumptions]) await batch.finish();
  await pool.query(
    `UPDATE wallets SET balance = sums.balance
     FROM (SELECT user_id, sum(amount) AS balance FROM ledger
           WHERE user_id = ANY($1) GROUP BY user_id) sums
     WHERE wallets.user_id = sums.user_id`,
    [people.map((person) => person.id)],
  );
  return ids.length;
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { messages: { type: 'string' }, users: { type: 'string' } },
  });
  const messages = wholeNumber('messages', values.messages, 10_000);
  const count = wholeNumber('users', values.users, Math.max(3, Math.ceil(messages / 200)));
  const settings = readSettings(process.env);
  const log = pino({ level: 'warn' });
  const { db, pool, close } = await connectDatabase(settings, log);
  try {
    // The models that a first start would add.
    const models = createModelService({ db, settings, log });
    await models.start();
    models.close();
    const began = Date.now();
    const { people, accounts, password } = await addPeople(pool, count);
    const sessions = await fill(pool, people, messages, settings.signupTokens);
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
