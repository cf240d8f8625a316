import { afterEach, expect, test, vi } from 'vitest';
import { callTable } from '#common/call-table.ts';
import { callAddress } from './call-address.ts';
import { askEarly, forgetEarly, newestOf, takeEarly } from './early.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('what was asked about a session before the server had it is not its answer later', async () => {
  // The page has just begun.
  vi.spyOn(performance, 'now').mockReturnValue(100);
  vi.stubGlobal('window', {});
  vi.stubGlobal('fetch', async () => new Response('', { status: 404 }));
  const uuid = '0b5ae5f1-8f0c-4a53-9f0c-5e0b8f6f8d11';
  askEarly('/chat', uuid, 'token');
  forgetEarly(uuid);
  const taken = (name: 'getSession' | 'historyList' | 'models', query: object = {}) =>
    takeEarly(callAddress(callTable[name].path, { ...query }), 'token');
  expect(taken('getSession', { uuid })).toBeUndefined();
  expect(taken('historyList', newestOf(uuid))).toBeUndefined();
  // What else was asked for is still good.
  expect((await taken('models'))?.status).toBe(404);
});
