import { createHash, randomInt } from 'node:crypto';
import { generateSecret, generateURI, verifySync } from 'otplib';
import { toString as drawCode } from 'qrcode';
import type { Out } from '#contract/calls.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import type { KeyBox } from '../model/channel-key.ts';
import * as store from './second-factor.store.ts';
import { dropQuestionsOf } from './ways.store.ts';

/** Codes that work once each, where the phone is lost. */
const recoveryCodes = 10;
/** Of recovery codes: none of these is taken for another. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 120 bits in four groups: so many that a plain hash gives none away (ASVS 5.0, 6.5.2). */
const recoveryLength = 24;
/** How many seconds a code may be early or late. */
const tolerance = 30;

const lettersOf = (code: string): string => code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');

/** Whether it has the length of a recovery code, whatever it is worth. */
export const isRecoveryCode = (code: string): boolean => lettersOf(code).length === recoveryLength;

const hashOf = (code: string): string => createHash('sha256').update(lettersOf(code)).digest('hex');

const newRecoveryCode = (): string =>
  (
    Array.from({ length: recoveryLength }, () => letters[randomInt(letters.length)])
      .join('')
      .match(/.{6}/g) ?? []
  ).join('-');

/** The second proof of identity: a code of an authenticator app, or a recovery code. */
export const createSecondFactor = (keys: KeyBox) => {
  const sealedFor = (userId: number) => `second factor ${userId}`;
  /** Whether it is a code of now; each works once. */
  const useCode = async (
    tx: Executor,
    row: { userId: number; secret: Buffer },
    code: string,
  ): Promise<boolean> => {
    const token = code.replaceAll(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return false;
    // Without the key that sealed it, as after a restore, recovery codes are left.
    const secret = keys.open(row.secret, sealedFor(row.userId));
    if (secret === null) return false;
    const result = verifySync({ secret, token, epochTolerance: tolerance });
    if (!result.valid) return false;
    const step = Math.floor(Date.now() / 30_000) + result.delta;
    return store.useStep(tx, row.userId, step);
  };

  /** Whether somebody's login needs a code besides the password. */
  const isOn = async (db: Executor, userId: number): Promise<boolean> =>
    ((await store.read(db, userId))?.enabledAt ?? null) !== null;

  /** Uses a code up. */
  const prove = async (db: Executor, userId: number, code: string): Promise<boolean> => {
    const row = await store.read(db, userId);
    if (!row?.enabledAt) return false;
    return (await useCode(db, row, code)) || store.useRecovery(db, userId, hashOf(code));
  };

  /** Switches it on, if it is not yet; only hashes of the codes are kept. @throws Refusal totp_unsuitable */
  const giveRecovery = async (
    db: Executor,
    { userId, secret }: { userId: number; secret: Buffer },
  ): Promise<string[]> => {
    const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
    if (!(await store.giveRecovery(db, userId, { secret, recovery: codes.map(hashOf) })))
      throw new Refusal('totp_unsuitable', '密钥刚刚换过，请用新的再试一次');
    return codes;
  };

  return {
    isOn,
    prove,

    state: async (db: Executor, userId: number): Promise<Out<'totpState'>> => {
      const row = await store.read(db, userId);
      return {
        enabled: (row?.enabledAt ?? null) !== null,
        recovery_left: row?.recovery.length ?? 0,
      };
    },

    begin: async (db: Executor, user: Identity): Promise<Out<'totpBegin'>> => {
      const secret = generateSecret();
      const sealed = keys.seal(secret, sealedFor(user.id));
      if (!(await store.putSecret(db, user.id, sealed)))
        throw new Refusal('totp_unsuitable', '动态验证码已经打开，要换手机请先关掉它');
      const url = generateURI({ issuer: '鹊桥', label: user.userName, secret });
      return { secret, url, svg: await drawCode(url, { type: 'svg', margin: 1 }) };
    },

    enable: async (db: Executor, userId: number, code: string): Promise<Out<'totpEnable'>> => {
      const row = await store.read(db, userId);
      if (!row || row.enabledAt) throw new Refusal('totp_unsuitable', '请先生成一个新的密钥');
      if (!(await useCode(db, row, code)))
        throw new Refusal('totp_wrong', '动态验证码不对，请看看手机的时间准不准');
      // A passkey signs in without a code: what was begun before asked for none.
      await dropQuestionsOf(db, userId);
      return { recovery_codes: await giveRecovery(db, row) };
    },

    /** New recovery codes in place of the old ones. */
    renewRecovery: async (db: Executor, userId: number): Promise<Out<'totpRecovery'>> => {
      const row = await store.read(db, userId);
      if (!row?.enabledAt) throw new Refusal('totp_unsuitable', '动态验证码没有打开');
      return { recovery_codes: await giveRecovery(db, row) };
    },

    /** Switched off by its person; whoever lost phone and recovery codes asks a manager. */
    forget: async (tx: Transaction | Executor, userId: number): Promise<void> => {
      await store.remove(tx, userId);
    },

    /** Which of these people have it. */
    having: store.having,
  };
};

export type SecondFactor = ReturnType<typeof createSecondFactor>;
