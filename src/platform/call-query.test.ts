import { QueryClient } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { api } from './api.ts';
import { callKey, callQuery, nextPage } from './call-query.ts';

vi.mock('./api.ts', () => ({ api: { helpPage: vi.fn(), models: vi.fn() } }));

it('asks the call itself: quietly, with its input, and stops with the query', async () => {
  vi.mocked(api.helpPage).mockResolvedValue({} as never);
  const client = new QueryClient();
  await client.fetchQuery(callQuery('helpPage', { slug: 'payment' }));
  expect(api.helpPage).toHaveBeenCalledWith(
    { slug: 'payment' },
    { quiet: true, signal: expect.any(AbortSignal) },
  );
});

it('keeps answers apart by input and by what else they depend on, and finds all by the name', () => {
  const client = new QueryClient();
  const keys = [
    callQuery('helpPage', { slug: 'a' }).queryKey,
    callQuery('helpPage', { slug: 'b' }).queryKey,
    callQuery('helpPage', { slug: 'b' }, { apart: 'another account' }).queryKey,
  ];
  for (const [at, key] of keys.entries()) client.setQueryData(key, at);
  client.setQueryData(callKey('models', {}), 'other');
  expect(keys.map((key) => client.getQueryData(key))).toEqual([0, 1, 2]);
  expect(client.getQueriesData({ queryKey: ['helpPage'] })).toHaveLength(3);
  expect(client.getQueryData(['models'])).toBe('other');
});

it('ends a list with its last page', () => {
  expect(nextPage({ page: 1, page_count: 2 })).toBe(2);
  expect(nextPage({ page: 2, page_count: 2 })).toBeUndefined();
  expect(nextPage({ page: 1, page_count: 0 })).toBeUndefined();
});
