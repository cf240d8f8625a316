import { expect, test } from 'vitest';
import { Refusal } from '#server/http/handlers.ts';
import { pack } from './output.service.ts';

test('a full disk is asked before translations are packed', async () => {
  const requireDisk = () => Promise.reject(new Refusal('storage_full'));
  const user = { id: 1, guest: false } as never;
  // Nothing is read for it either.
  const packing = pack({ requireDisk } as never, null as never, 1, user, () => undefined);
  await expect(packing).rejects.toMatchObject({ codeName: 'storage_full' });
});
