import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { excerptOf, summaryOf, titleOf } from '#common/markdown/digest.ts';
import { between, conversation, pick } from '../demo-text.ts';
import { Batch, batchSize, reserveIds } from './batch.ts';
import { day, type Person } from './people.ts';

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

/** The tables that conversations fill, and what moves tokens. */
const openTables = (pool: pg.Pool) => {
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

  return { sessions, history, friends, favorites, likes, ledger, consumptions, enter, spend };
};
type Tables = ReturnType<typeof openTables>;

/** Adds the messages of a session, each behind the shown one before it. */
const addMessages = async (
  { history, consumptions, spend }: Tables,
  plan: SessionPlan,
  rows: readonly Written[],
  ids: number[],
) => {
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

interface Shown {
  session: number;
  message: number;
}

/** Whoever likes a message often keeps it, too. People see public sessions alone. */
const addLikes = async (
  { likes, favorites }: Tables,
  people: readonly Person[],
  shown: readonly Shown[],
) => {
  for (const { session, message } of shown) {
    const fans = new Set(Array.from({ length: between(1, 3) }, () => pick(people).id));
    for (const user_id of fans) {
      const created_at = new Date(Date.now() - Math.random() * 30 * day);
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
};

/** Brings balances and counts of likes up to what was written. */
const settleSums = async (
  pool: pg.Pool,
  people: readonly Person[],
  liked: readonly number[],
): Promise<void> => {
  await pool.query(
    `UPDATE wallets SET balance = sums.balance
     FROM (SELECT user_id, sum(amount) AS balance FROM ledger
           WHERE user_id = ANY($1) GROUP BY user_id) sums
     WHERE wallets.user_id = sums.user_id`,
    [people.map((person) => person.id)],
  );
  // What is liked has to be public first: nobody sees the rest.
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
};

/** Adds so many messages in conversations of a year; gives how many conversations they are. */
export const fill = async (
  pool: pg.Pool,
  people: Person[],
  messages: number,
  signupTokens: number,
) => {
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

  const tables = openTables(pool);
  const { sessions, friends, history } = tables;
  const since = new Date(now - 400 * day);
  for (const person of people) {
    await tables.enter(person, 'grant', signupTokens, '注册赠送', since);
  }
  // Each pair has one session, so neighbours by their numbers are the pairs.
  const pairs = Math.min(Math.floor(people.length / peopleAPair), Math.floor(ids.length / 20));
  const shownByEverybody: Shown[] = [];
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
      await addMessages(tables, plan, rows, own);
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
  await addLikes(tables, people, shownByEverybody);
  const { favorites, likes, ledger, consumptions } = tables;
  for (const batch of [friends, favorites, likes, ledger, consumptions]) await batch.finish();
  await settleSums(
    pool,
    people,
    shownByEverybody.map(({ message }) => message),
  );
  return ids.length;
};
