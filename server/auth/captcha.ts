import { randomUUID } from 'node:crypto';
import type { Executor } from '../db/database.ts';
import * as store from './auth.store.ts';

const lifetimeMs = 5 * 60_000;

/** A new picture; its answer is kept for five minutes and one try. */
export const drawCaptcha = async (db: Executor): Promise<{ captchaid: string; svg: string }> => {
  // Loaded when first asked for: it reads a whole font.
  const { default: svgCaptcha } = await import('svg-captcha');
  const { text, data } = svgCaptcha.create({
    size: 4,
    noise: 2,
    color: true,
    background: '#f4f6fa',
    ignoreChars: '0oO1iIlL5sS2zZ8B9gq',
  });
  const captchaid = randomUUID();
  await store.insertCaptcha(db, {
    id: captchaid,
    answer: text.toLowerCase(),
    expiresAt: new Date(Date.now() + lifetimeMs),
  });
  return { captchaid, svg: data };
};

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Uses the captcha up, whatever the answer. */
export const solveCaptcha = async (
  db: Executor,
  given: { captcha?: string; captchaid?: string },
): Promise<boolean> => {
  const { captcha = '', captchaid = '' } = given;
  if (captcha === '' || !uuidPattern.test(captchaid)) return false;
  const answer = await store.takeCaptcha(db, captchaid);
  return answer !== null && answer === captcha.normalize('NFKC').trim().toLowerCase();
};
