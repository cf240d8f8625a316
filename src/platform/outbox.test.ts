import { expect, test, vi } from 'vitest';
import { serverApi } from './server-api.ts';

const stored = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
  removeItem: (key: string) => void stored.delete(key),
});
vi.stubGlobal('navigator', { onLine: true });
vi.mock('./load-outbox.ts', () => ({ loadOutbox: () => Promise.resolve({ ready: () => {} }) }));
const cache = vi.hoisted(() => {
  let end = () => {};
  const kept = new Promise<void>((resolve) => (end = resolve));
  return { end: () => end(), heardIsKept: () => kept };
});
vi.mock('./cache.ts', async (original) => ({
  ...(await original<object>()),
  heardIsKept: cache.heardIsKept,
}));

test('the note of a message ends once what came of it is kept on the device', async () => {
  const { perform } = await import('./outbox.ts');
  const sent = { id: 7, msg: '问一句', created_at: '2026-01-02T00:00:00.000Z', beside: null };
  vi.spyOn(serverApi, 'sendMessage').mockResolvedValue(sent);
  const notes = () => [...stored.keys()].filter((key) => key.startsWith('queqiao.sending.'));
  const input = { session_id: 'a-session', msg: '问一句' };
  const act = { name: 'sendMessage', key: 'a-key', lane: 'a-session', input, made: '' } as const;
  expect(await perform<'sendMessage'>({ ...act, before: 0, parts: undefined })).toEqual(sent);
  expect(notes()).toHaveLength(1);
  cache.end();
  await vi.waitFor(() => expect(notes()).toHaveLength(0));
});
