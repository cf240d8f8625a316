import { createHash, randomBytes } from 'node:crypto';
import { and, eq, isNotNull, lt, sql } from 'drizzle-orm';
import { generateSecret, generateURI, verifySync } from 'otplib';
import { toString as drawCode } from 'qrcode';
import type { Out } from '../../../contract/calls.ts';
import type { Executor, Transaction } from '../../db/database.ts';
import { type Identity, Refusal } from '../../http/handlers.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { secondFactors } from './auth.tables.ts';

/** Codes that work once each, where the phone is lost. */
const recoveryCodes = 10;
/** How many seconds a code may be early or late. */
const tolerance = 30;

const hashOf = (code: string): string =>
  createHash('sha256')
    .update(code.toUpperCase().replaceAll(/[^0-9A-Z]/g, ''))
    .digest('hex');

const newRecoveryCode = (): string =>
  (randomBytes(5).toString('hex').toUpperCase().match(/.{5}/g) ?? []).join('-');

const read = async (db: Executor, userId: number) => {
  const [row] = await db.select().from(secondFactors).where(eq(secondFactors.userId, userId));
  return row ?? null;
};

/** The second proof of identity: a code of an authenticator app, or a recovery code. */
export const createSecondFactor = (keys: KeyBox) => {
  const sealedFor = (userId: number) => `second factor ${userId}`;
  const secretOf = (row: { userId: number; secret: Buffer }): string => {
    const secret = keys.open(row.secret, sealedFor(row.userId));
    if (secret === null)
      throw new Error('the secret of a second factor cannot be read: SECRET_KEY?');
    return secret;
  };

  /** Whether it is a code of now; each works once. */
  const useCode = async (
    tx: Executor,
    row: { userId: number; secret: Buffer },
    code: string,
  ): Promise<boolean> => {
    const token = code.replaceAll(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return false;
    const result = verifySync({ secret: secretOf(row), token, epochTolerance: tolerance });
    if (!result.valid) return false;
    const step = Math.floor(Date.now() / 30_000) + result.delta;
    const used = await tx
      .update(secondFactors)
      .set({ lastStep: step })
      .where(and(eq(secondFactors.userId, row.userId), lt(secondFactors.lastStep, step)))
      .returning({ userId: secondFactors.userId });
    return used.length > 0;
  };

  const useRecovery = async (tx: Executor, userId: number, code: string): Promise<boolean> => {
    const hash = hashOf(code);
    const used = await tx
      .update(secondFactors)
      .set({ recovery: sql`array_remove(${secondFactors.recovery}, ${hash})` })
      .where(
        and(
          eq(secondFactors.userId, userId),
          isNotNull(secondFactors.enabledAt),
          sql`${hash} = ANY (${secondFactors.recovery})`,
        ),
      )
      .returning({ userId: secondFactors.userId });
    return used.length > 0;
  };

  /** Whether somebody's login needs a code besides the password. */
  const isOn = async (db: Executor, userId: number): Promise<boolean> =>
    ((await read(db, userId))?.enabledAt ?? null) !== null;

  /** Uses a code up. */
  const prove = async (db: Executor, userId: number, code: string): Promise<boolean> => {
    const row = await read(db, userId);
    if (!row?.enabledAt) return false;
    return (await useCode(db, row, code)) || useRecovery(db, userId, code);
  };

  return {
    isOn,
    prove,

    state: async (db: Executor, userId: number): Promise<Out<'totpState'>> => {
      const row = await read(db, userId);
      return {
        enabled: (row?.enabledAt ?? null) !== null,
        recovery_left: row?.recovery.length ?? 0,
      };
    },

    begin: async (db: Executor, user: Identity): Promise<Out<'totpBegin'>> => {
      if (await isOn(db, user.id))
        throw new Refusal('manage_unsuitable', '动态验证码已经打开，要换手机请先关掉它');
      const secret = generateSecret();
      const sealed = keys.seal(secret, sealedFor(user.id));
      await db
        .insert(secondFactors)
        .values({ userId: user.id, secret: sealed })
        .onConflictDoUpdate({
          target: secondFactors.userId,
          set: { secret: sealed, lastStep: 0, recovery: [] },
        });
      const url = generateURI({ issuer: '鹊桥', label: user.userName, secret });
      return { secret, url, svg: await drawCode(url, { type: 'svg', margin: 1 }) };
    },

    enable: async (db: Executor, userId: number, code: string): Promise<Out<'totpEnable'>> => {
      const row = await read(db, userId);
      if (!row || row.enabledAt) throw new Refusal('manage_unsuitable', '请先生成一个新的密钥');
      if (!(await useCode(db, row, code)))
        throw new Refusal('manage_unsuitable', '验证码不对，请看看手机的时间准不准');
      const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
      await db
        .update(secondFactors)
        .set({ enabledAt: sql`now()`, recovery: codes.map(hashOf) })
        .where(eq(secondFactors.userId, userId));
      return { recovery_codes: codes };
    },

    disable: async (db: Executor, userId: number, code: string): Promise<void> => {
      if (!(await prove(db, userId, code))) throw new Refusal('manage_unsuitable', '验证码不对');
      await db.delete(secondFactors).where(eq(secondFactors.userId, userId));
    },

    /** Whoever lost phone and recovery codes asks an owner. */
    forget: async (tx: Transaction | Executor, userId: number): Promise<void> => {
      await tx.delete(secondFactors).where(eq(secondFactors.userId, userId));
    },

    /** Which of these people have it. */
    having: async (db: Executor): Promise<Set<number>> =>
      new Set(
        (
          await db
            .select({ userId: secondFactors.userId })
            .from(secondFactors)
            .where(isNotNull(secondFactors.enabledAt))
        ).map(({ userId }) => userId),
      ),
  };
};

export type SecondFactor = ReturnType<typeof createSecondFactor>;
