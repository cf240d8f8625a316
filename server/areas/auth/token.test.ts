import { afterEach, expect, test, vi } from 'vitest';
import { createTokens, loginSeconds } from './token.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** What another process with the same secret reads, whose clock shows `seconds` more than ours. */
const readAt = async (seconds: number) => {
  const now = Date.now();
  const token = await createTokens('a secret').sign(7, '0189d1c2-1111-4111-8111-111111111111');
  vi.useFakeTimers({ now: now + seconds * 1000, toFake: ['Date'] });
  return createTokens('a secret').read(token);
};

test.each([-59, -0.3, 0.3, 59, loginSeconds - 10])(
  'a token is read where the clock shows %d s more',
  async (seconds) => {
    expect(await readAt(seconds)).toMatchObject({ userId: 7 });
  },
);

test.each([-120, loginSeconds + 120])(
  'a token is refused where the clock shows %d s more',
  async (seconds) => {
    expect(await readAt(seconds)).toBeNull();
  },
);
