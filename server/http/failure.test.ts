import { DrizzleQueryError } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { StorageAway } from '../storage/storage-interface.ts';
import { loggable, refusalOf, statusOf } from './failure.ts';
import { Refusal } from './handlers.ts';
import { patience } from './server.ts';

const failed = (code?: string) =>
  new DrizzleQueryError(
    'INSERT INTO users VALUES ($1)',
    ['the secret'],
    Object.assign(new Error('inside'), code ? { code } : {}),
  );

test.each([
  [new Refusal('balance'), 'balance', 200],
  [failed('53100'), 'storage_full', 507],
  [failed('57P01'), 'unavailable', 503],
  [failed('ECONNREFUSED'), 'unavailable', 503],
  [new StorageAway('inside'), 'unavailable', 503],
  [failed('42P01'), 'internal', 500],
  [new Error('anything'), 'internal', 500],
  ['thrown text', 'internal', 500],
  [
    Object.assign(new Error('x'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 }),
    'too_large',
    413,
  ],
  [Object.assign(new Error('x'), { code: 'FST_ERR_BAD_URL', statusCode: 400 }), 'bad_body', 400],
] as const)('%s is answered %s', (error, name, status) => {
  const refusal = refusalOf(error);
  expect(refusal.codeName).toBe(name);
  expect(statusOf(refusal)).toBe(status);
  if (name !== 'balance') expect(refusal.message).not.toMatch(/inside|anything|INSERT/);
});

test('the log gets the statement but none of its values', () => {
  const text = JSON.stringify(loggable(failed('42P01')));
  expect(text).toContain('INSERT INTO users');
  expect(text).toContain('42P01');
  expect(text).not.toContain('the secret');
});

test('a request has ten minutes to arrive, its head seconds', () => {
  expect(patience).toMatchObject({ headers: 15_000, request: 600_000 });
});
