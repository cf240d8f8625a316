import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { CallName, Parsed } from '#contract/calls.ts';
import { type MinorState, minorUsual } from '#contract/minor.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { reachesPeople } from './among-people.ts';
import { readCompliance } from './compliance.store.ts';
import * as store from './minor.store.ts';

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

const isOffered = async (db: Executor): Promise<boolean> => (await readCompliance(db)).minors === 1;

export const minorState = async (db: Executor, userId: number): Promise<MinorState> => {
  const offered = await isOffered(db);
  const row = await store.rowOf(db, userId);
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
      const row = await store.rowOf(db, userId);
      if (row?.active) await prove(userId, code, row.code);
      const hash = row?.active ? row.code : await hashOf(code);
      await store.start(db, userId, { hash, from, to, minutes });
      return minorState(db, userId);
    },

    /** @throws Refusal manage_unsuitable, wrong_password, too_many */
    async end(db: Executor, userId: number, code: string): Promise<MinorState> {
      const row = await store.rowOf(db, userId);
      if (!row?.active) throw new Refusal('manage_unsuitable', '现在不是未成年人模式');
      await prove(userId, code, row.code);
      await store.end(db, userId);
      return minorState(db, userId);
    },
  };
};

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

const clock = (minute: number): string =>
  `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`;
const limited = (why: string) => new Refusal('minor_limited', `未成年人模式：${why}`);

export interface AskedCall {
  call: string;
  input: Record<string, unknown>;
  /** A program asks, with a key. */
  byKey?: boolean;
}

/**
 * What 未成年人模式 forbids: other hours, more minutes, payment, keys, people whom one does not know,
 * words that are blocked. Time counts while calls follow each other, on all devices together.
 * @returns what a browser keeps to be known by; null: it is not on
 * @throws Refusal minor_limited, words_blocked
 */
export const allowMinor = async (
  db: Executor,
  minor: store.Minor,
  { call, input, byKey }: AskedCall,
): Promise<string | null> => {
  if (always.has(call)) return null;
  const row = await store.countUse(db, minor);
  if (!row) return null;
  if (call === 'register')
    throw limited('这台设备用过未成年人的账号，注册新账号之前，请监护人先关闭它');
  if (row.now < row.from || row.now >= row.to)
    throw limited(`只能在 ${clock(row.from)} 到 ${clock(row.to)} 使用`);
  if (row.used >= row.minutes * 60) throw limited(`今天的 ${row.minutes} 分钟用完了，明天再来`);
  if (payments.has(call)) throw limited('不能付款');
  // What programs do with a key is looked at by nobody.
  if (byKey || call === 'genKey' || call === 'rotateKey') throw limited('不能用 API-KEY');
  if (await reachesPeople(db, call, input)) throw limited('不能和别人来往，也不能公开内容');
  const words = [input['msg'], input['prompt'], input['text']].filter(
    (each): each is string => typeof each === 'string',
  );
  if (words.length > 0) await refuseBlocked(db, ...words);
  return row.device;
};
