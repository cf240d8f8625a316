import { expect, test } from 'vitest';
import { calls } from '../contract/calls.ts';
import { inAddress, workerCalls } from './outbox-sync.ts';

test('the worker calls what the contract has', () => {
  for (const [name, [method, path]] of Object.entries(workerCalls)) {
    const call = calls[name as keyof typeof workerCalls];
    expect([call.method, call.path], name).toEqual([method, path]);
    expect(
      call.inQuery.map((field) => `${name}.${field}`),
      name,
    ).toEqual([...inAddress].filter((each) => each.startsWith(`${name}.`)));
  }
});
