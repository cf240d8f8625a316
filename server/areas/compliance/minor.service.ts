import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { sql } from 'drizzle-orm';
import type { CallName, Parsed } from '#contract/calls.ts';
import { type MinorState, minorUsual } from '#contract/minor.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { readCompliance } from './compliance.store.ts';

/** 未成年人模式: what its guardian's code opens, and what it forbids on every device alike. */

const derive = promisify(scrypt) as (code: string, salt: Buffer, bytes: number) => Promise<Buffer>;
const hashBytes = 32;

const hashOf = async (code: string): Promise<string> => {
  const salt = randomBytes(16);
  return `${salt.toString('hex')}:${(await derive(code, salt, hashBytes)).toString('hex')}`;
};

const isCode = async (code: string, kept: string): Promise<boolean> => {
  const [salt = '', hash = ''] = kept.split(':');
  const right = Buffer.from(hash, 'hex');
  return timingSafeEqual(await derive(code, Buffer.from(salt, 'hex'), hashBytes), right);
};

interface Row extends Record<string, unknown> {
  active: boolean;
  code: string;
  from_minute: number;
  to_minute: number;
  minutes: number;
  used: number;
}

const today = sql`(now() AT TIME ZONE 'Asia/Shanghai')::date`;

const rowOf = async (db: Executor, userId: number): Promise<Row | null> => {
  const { rows } = await db.execute<Row>(sql`
    SELECT active, code, from_minute, to_minute, minutes,
      CASE WHEN used_on = ${today} THEN floor(used_seconds / 60) ELSE 0 END AS used
    FROM minors WHERE user_id = ${userId}`);
  return rows[0] ?? null;
};

const isOffered = async (db: Executor): Promise<boolean> => (await readCompliance(db)).minors === 1;

export const minorState = async (db: Executor, userId: number): Promise<MinorState> => {
  const offered = await isOffered(db);
  const row = await rowOf(db, userId);
  if (!row) return { offered, on: false, ...minorUsual, used: 0 };
  const { active, from_minute: from, to_minute: to, minutes, used } = row;
  return { offered, on: active && offered, from, to, minutes, used };
};

/** Guesses of one account's code in an hour. */
const mostGuesses = 5;

export const createMinors = () => {
  const limitGuesses = createKeyLimit(mostGuesses, 3600, 'codes of guardians');

  /** @throws Refusal wrong_password, too_many */
  const prove = async (userId: number, code: string, kept: string): Promise<void> => {
    // Counted before it is judged: of guesses at once none goes uncounted.
    await limitGuesses(String(userId));
    if (!(await isCode(code, kept))) throw new Refusal('wrong_password', '监护人的密码不对');
  };

  return {
    /** @throws Refusal manage_unsuitable, wrong_password, too_many */
    async start(db: Executor, userId: number, asked: Parsed<'startMinor'>): Promise<MinorState> {
      if (!(await isOffered(db))) throw new Refusal('manage_unsuitable', '这里没有未成年人模式');
      const { code, from, to, minutes } = asked;
      if (from >= to) throw new Refusal('bad_input', 'to：结束要在开始之后');
      const row = await rowOf(db, userId);
      if (row?.active) await prove(userId, code, row.code);
      const hash = row?.active ? row.code : await hashOf(code);
      await db.execute(sql`
        INSERT INTO minors (user_id, active, code, from_minute, to_minute, minutes)
        VALUES (${userId}, true, ${hash}, ${from}, ${to}, ${minutes})
        ON CONFLICT (user_id) DO UPDATE SET active = true, code = excluded.code,
          from_minute = excluded.from_minute, to_minute = excluded.to_minute, minutes = excluded.minutes`);
      return minorState(db, userId);
    },

    /** @throws Refusal manage_unsuitable, wrong_password, too_many */
    async end(db: Executor, userId: number, code: string): Promise<MinorState> {
      const row = await rowOf(db, userId);
      if (!row?.active) throw new Refusal('manage_unsuitable', '现在不是未成年人模式');
      await prove(userId, code, row.code);
      await resetMinor(db, userId);
      return minorState(db, userId);
    },
  };
};

/** Ends it without a code. */
export const resetMinor = async (db: Executor, userId: number): Promise<boolean> => {
  const { rows } = await db.execute(
    sql`UPDATE minors SET active = false WHERE user_id = ${userId} AND active RETURNING user_id`,
  );
  return rows.length > 0;
};

/** A pause as long as this is not counted as use, seconds. */
const pauseSeconds = 180;

/** Of calls that a minor may make at any time, beside what needs no agreement: to sign in, to see why not. */
const always: ReadonlySet<string> = new Set<CallName>([
  'userInfo',
  'authCheck',
  'captcha',
  'siteInfo',
  'models',
  'modelHealth',
  'minorState',
  'startMinor',
  'endMinor',
  'agreements',
  'agreement',
  'helpList',
  'helpPage',
  'jobEvents',
  'deviceList',
  'noticeList',
  'noticeInfo',
  'accountFile',
]);

export const payments: ReadonlySet<string> = new Set<CallName>([
  'recharge',
  'payApp',
  'requestInvoice',
]);

/** What reaches people whom one does not know. */
const amongPeople: ReadonlySet<string> = new Set<CallName>([
  'newFriend',
  'answerFriend',
  'updateMessage',
  'acceptAnswer',
  'shareSession',
  'sendAppComment',
  'saveScenario',
  'genKey',
]);

const clock = (minute: number): string =>
  `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`;
const limited = (why: string) => new Refusal('minor_limited', `未成年人模式：${why}`);

const reachesPeople = async (
  db: Executor,
  call: string,
  input: Record<string, unknown>,
): Promise<boolean> => {
  if (amongPeople.has(call)) return true;
  if (call === 'setSession') return input['private'] === 0;
  if (call === 'newTrainModel' || call === 'setTrainModel') return input['private'] === 0;
  if (call === 'newSession') return input['type'] === sessionTypes.people;
  if (call !== 'sendMessage') return false;
  const ref = (input['session_id'] ?? input['uuid'] ?? '') as string;
  const { rows } = await db.execute(sql`SELECT FROM sessions
    WHERE (uuid::text = ${ref} OR id::text = ${ref}) AND type = ${sessionTypes.people}`);
  return rows.length > 0;
};

/**
 * What 未成年人模式 forbids: other hours, more minutes, payment, people whom one does not know, words
 * that are blocked. Time counts while calls follow each other, on all devices together.
 * @throws Refusal minor_limited, words_blocked
 */
export const allowMinor = async (
  db: Executor,
  userId: number,
  call: string,
  input: Record<string, unknown>,
): Promise<void> => {
  if (always.has(call)) return;
  const { rows } = await db.execute<{
    used: number;
    minutes: number;
    now: number;
    from: number;
    to: number;
  }>(sql`
    UPDATE minors SET seen_at = now(), used_on = ${today},
      used_seconds = CASE WHEN used_on = ${today} THEN used_seconds ELSE 0 END
        + CASE WHEN now() - seen_at < make_interval(secs => ${pauseSeconds})
          THEN extract(epoch FROM now() - seen_at) ELSE 0 END
    FROM compliance
    WHERE user_id = ${userId} AND active AND compliance.settings ->> 'minors' = '1'
    RETURNING used_seconds AS used, minutes, from_minute AS "from", to_minute AS "to",
      extract(hour FROM now() AT TIME ZONE 'Asia/Shanghai')::int * 60
        + extract(minute FROM now() AT TIME ZONE 'Asia/Shanghai')::int AS now`);
  const row = rows[0];
  if (!row) return;
  if (row.now < row.from || row.now >= row.to)
    throw limited(`只能在 ${clock(row.from)} 到 ${clock(row.to)} 使用`);
  if (row.used >= row.minutes * 60) throw limited(`今天的 ${row.minutes} 分钟用完了，明天再来`);
  if (payments.has(call)) throw limited('不能付款');
  if (await reachesPeople(db, call, input)) throw limited('不能和别人来往，也不能公开内容');
  const words = [input['msg'], input['prompt'], input['text']].filter(
    (each): each is string => typeof each === 'string',
  );
  if (words.length > 0) await refuseBlocked(db, ...words);
};
