import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { hashPassword } from '#server/areas/auth/password.ts';
import { personName } from '../demo-text.ts';
import { Batch, reserveIds } from './batch.ts';

export const day = 24 * 60 * 60_000;

export interface Person {
  id: number;
  balance: number;
}

/** Adds people of the last year, who all have one password. */
export const addPeople = async (
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
  for (const [index, id] of ids.entries()) {
    const since = new Date(Date.now() - (1 + 399 * Math.sqrt(1 - (index + 1) / ids.length)) * day);
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
