import { expect, test } from 'vitest';
import type { SearchKind, SearchPaths } from '#contract/manage-model.ts';
import type { FetchOptions, GuardedFetch } from '#server/net/guarded-fetch.ts';
import { SearchError, searchWeb } from './web-search.ts';

/** What left last, and what is answered to it. */
let left: { url: string; options: FetchOptions } | null = null;
let answer: { status: number; body: string } = { status: 200, body: '{}' };
const fetch: GuardedFetch = (url, options) => {
  left = { url, options };
  options.onStatus?.(answer.status);
  const mime = 'application/json';
  return Promise.resolve(answer.status === 200 ? { data: Buffer.from(answer.body), mime } : null);
};

const found = { title: '<b>赵州桥</b>', url: 'https://a.example/bridge' };
const page = { title: '赵州桥', url: 'https://a.example/bridge', text: '建于隋代' };

const find = (kind: SearchKind, baseUrl: string, body: unknown, paths?: SearchPaths) => {
  answer = { status: 200, body: JSON.stringify(body) };
  return searchWeb(fetch, { kind, baseUrl, apiKey: 'key-1', paths }, '古桥 历史');
};

test.each<[SearchKind, string, unknown, { url: string; headers: object; body?: object }]>([
  [
    'searxng',
    'https://searx.example/',
    { query: 'x', results: [{ ...found, content: '建于隋代' }] },
    {
      url: 'https://searx.example/search?q=%E5%8F%A4%E6%A1%A5+%E5%8E%86%E5%8F%B2&format=json',
      headers: { authorization: 'Bearer key-1' },
    },
  ],
  [
    'bocha',
    'https://api.bochaai.com/v1',
    {
      code: 200,
      data: { webPages: { value: [{ name: found.title, url: found.url, summary: '建于隋代' }] } },
    },
    {
      url: 'https://api.bochaai.com/v1/web-search',
      headers: { authorization: 'Bearer key-1' },
      body: { query: '古桥 历史', summary: true },
    },
  ],
  [
    'tavily',
    'https://api.tavily.com',
    { query: 'x', results: [{ ...found, content: '建于隋代', score: 0.9 }] },
    {
      url: 'https://api.tavily.com/search',
      headers: { authorization: 'Bearer key-1' },
      body: { query: '古桥 历史' },
    },
  ],
  [
    'brave',
    'https://api.search.brave.com/res/v1',
    { type: 'search', web: { results: [{ ...found, description: '建于<strong>隋代</strong>' }] } },
    {
      url: 'https://api.search.brave.com/res/v1/web/search?q=%E5%8F%A4%E6%A1%A5+%E5%8E%86%E5%8F%B2&count=8',
      headers: { 'x-subscription-token': 'key-1' },
    },
  ],
  [
    'json-search',
    'https://own.example/find?words={query}',
    [{ ...found, text: '建于隋代' }],
    {
      url: 'https://own.example/find?words=%E5%8F%A4%E6%A1%A5%20%E5%8E%86%E5%8F%B2',
      headers: { authorization: 'Bearer key-1' },
    },
  ],
])('%s is asked and read in its own words', async (kind, base, body, wanted) => {
  expect(await find(kind, base, body)).toEqual([page]);
  const { send } = left!.options;
  expect(left!.url).toBe(wanted.url);
  expect(send?.headers).toMatchObject(wanted.headers);
  expect(send?.method).toBe(wanted.body ? 'POST' : undefined);
  if (wanted.body) expect(JSON.parse(send?.body ?? '')).toMatchObject(wanted.body);
});

test('any JSON answer is read where its manager says; what is no page of the web is left out, and refusals are told', async () => {
  const paths = { list: 'data.hits', title: 'name', url: 'at.0', text: 'about' };
  const hit = (at: string) => ({ name: '赵州桥', at: [at], about: '建于隋代' });
  const hits = [found.url, found.url, 'javascript:alert(1)', '/relative', 'ftp://a.example/x'];
  const body = { data: { hits: hits.map(hit) } };
  expect(await find('json-search', 'https://own.example/?q={query}', body, paths)).toEqual([page]);
  await expect(find('tavily', 'https://api.tavily.com', { results: '没有' })).rejects.toThrow(
    'results 不是一列',
  );
  for (const [status, words] of [
    [401, '密钥不对'],
    [429, '请求太多'],
    [500, '回答 500'],
  ] as const) {
    answer = { status, body: '' };
    const asked = { kind: 'brave', baseUrl: 'https://b.example', apiKey: '' } as const;
    const failed: unknown = await searchWeb(fetch, asked, '桥').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SearchError);
    expect(String(failed)).toContain(words);
  }
});
