import type { Database } from '#server/db/database.ts';
import { waiterOf } from '#server/db/person.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import type { Checked } from './safety.service.ts';

/**
 * Letters of a day that a service or a model judges at the house's cost: some 600 questions of a
 * person with their answers, whoever ever paid five times as many. No one guest uses up what all of a
 * network have. What belongs to a paid answer is paid for with it, and only what is refused there, which
 * nobody pays for, has a bound of its own.
 */
const aDay = {
  person: 1_000_000,
  payer: 5_000_000,
  guest: 200_000,
  network: 3_000_000,
  refused: 1_000_000,
};
/** What one judgement counts as at least, however short what is judged, and what that of a picture does. */
const least = 200;
export const pictureLetters = 1_000;
/** What a picture counts as that is refused after a service was paid for it. */
export const refusedPicture = 25_000;

/** How long it is believed who somebody is, ms, and of how many. */
const knownMs = 60_000;
const mostKnown = 10_000;

type Of = Pick<Checked, 'userId' | 'paid'>;

const wait = (seconds: number): string =>
  seconds > 3_600 ? `${Math.ceil(seconds / 3_600)} 小时` : `${Math.ceil(seconds / 60)} 分钟`;

/** @throws Refusal too_many, in words that say when it goes on */
const inWords = (error: unknown, guest: boolean): never => {
  if (!(error instanceof Refusal)) throw error;
  const { retry_after: seconds = 86_400 } = (error.data ?? {}) as { retry_after?: number };
  throw new Refusal(
    'too_many',
    `今天能做的内容安全检查用完了，${guest ? '登录之后可以继续，或者' : ''}约 ${wait(seconds)}后再试`,
    error.data,
  );
};

/**
 * Counts what is judged at the house's cost.
 * @param hasPaid whether somebody ever paid
 */
export const createJudgedLetters = (
  db: Database,
  hasPaid: (userId: number) => Promise<boolean>,
) => {
  const limits = {
    person: createKeyLimit(aDay.person, 86_400, 'letters judged'),
    payer: createKeyLimit(aDay.payer, 86_400, 'letters judged of payers'),
    guest: createKeyLimit(aDay.guest, 86_400, 'letters judged of a guest'),
    network: createKeyLimit(aDay.network, 86_400, 'letters judged of guests'),
    refused: createKeyLimit(aDay.refused, 86_400, 'letters refused'),
  };
  const find = async (userId: number) => {
    const { guest, person } = await waiterOf(db, userId);
    return { guest, person, paid: !guest && (await hasPaid(userId)) };
  };
  const known = new Map<number, { who: ReturnType<typeof find>; until: number }>();
  const whoIs = (userId: number): ReturnType<typeof find> => {
    const before = known.get(userId);
    if (before && before.until > Date.now()) return before.who;
    if (known.size >= mostKnown) known.clear();
    const who = find(userId);
    known.set(userId, { who, until: Date.now() + knownMs });
    who.catch(() => known.delete(userId));
    return who;
  };

  return {
    /**
     * So many letters are about to be judged. An answer that has begun is judged to its end: what it
     * takes beyond the bound is missing to the next question.
     * @throws Refusal too_many
     */
    async take({ userId, paid }: Of, way: 'in' | 'out', letters: number): Promise<void> {
      const weight = Math.max(letters, least);
      const { guest, person, paid: payer } = await whoIs(userId);
      try {
        if (await paid?.()) {
          if (way === 'in') await limits.refused(person, 0);
        } else if (guest) {
          await limits.guest(String(userId), weight);
          await limits.network(person, weight);
        } else await limits[payer ? 'payer' : 'person'](person, weight);
      } catch (error) {
        if (way === 'in') inWords(error, guest);
        if (!(error instanceof Refusal)) throw error;
      }
    },

    /** So many letters were judged and refused. */
    async refused({ userId, paid }: Of, letters: number): Promise<void> {
      if (letters === 0 || !(await paid?.())) return;
      const { person } = await whoIs(userId);
      await limits.refused(person, letters).catch(() => undefined);
    },
  };
};
