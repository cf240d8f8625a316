import { expect, test } from 'vitest';
import { Refusal } from '#server/http/handlers.ts';
import { createAccountHandlers } from './account.handlers.ts';

test('a full disk is asked before all that is a person’s is put together', async () => {
  const handlers = createAccountHandlers({} as never, {
    auth: {} as never,
    storage: {} as never,
    requireDisk: () => Promise.reject(new Refusal('storage_full')),
  });
  // Nothing is read for it either.
  const context = { db: null, user: { id: 1, guest: false } } as never;
  await expect(handlers.exportAccount({}, context)).rejects.toMatchObject({
    codeName: 'storage_full',
  });
});
