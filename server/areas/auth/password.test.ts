import { expect, test } from 'vitest';
import { hashPassword, strangerAt, verifyPassword } from './password.ts';

test('who tries many passwords keeps nobody else waiting', async () => {
  const kept = await hashPassword('right horse');
  let tried = 0;
  const tries = Array.from({ length: 40 }, (_, at) =>
    verifyPassword(kept, `wrong ${at}`, strangerAt('203.0.113.7')).then(() => (tried += 1)),
  );
  expect(await verifyPassword(kept, 'right horse', strangerAt('198.51.100.7'))).toBe(true);
  expect(tried).toBeLessThan(10);
  expect(await verifyPassword(kept, 'right horse', { person: 'amy', guest: false })).toBe(true);
  expect(tried).toBeLessThan(20);
  await Promise.all(tries);
});
