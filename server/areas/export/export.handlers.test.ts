import { expect, test } from 'vitest';
import { Refusal } from '#server/http/handlers.ts';
import { createExportHandlers } from './export.handlers.ts';

test('a full disk is asked before a file is made, of visitors as of guests', async () => {
  const asked: unknown[] = [];
  let made = 0;
  const handlers = createExportHandlers({
    exports: { readable: () => Promise.resolve({}), make: () => (made += 1) } as never,
    imports: {} as never,
    publicUrl: 'https://example.com',
    requireDisk: (who) => {
      asked.push(who?.guest);
      return Promise.reject(new Refusal('storage_full'));
    },
    room: 1024 * 1024,
  });
  const input = { session_id: 'a', format: 'json', time_zone: '' } as never;
  for (const user of [null, { id: 1, guest: true }, { id: 2, guest: false }])
    await expect(
      handlers.exportSession(input, { user, request: { ip: '203.0.113.7' } } as never),
    ).rejects.toMatchObject({ codeName: 'storage_full' });
  expect(asked).toEqual([true, true, false]);
  expect(made).toBe(0);
});
