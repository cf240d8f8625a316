import type { SearchKind, SearchPaths } from '#contract/manage-model.ts';
import type { GuardedFetch, Sent } from '#server/net/guarded-fetch.ts';

export interface SearchService {
  kind: SearchKind;
  baseUrl: string;
  /** Empty: it wants none. */
  apiKey: string;
  /** Of `json-search`: where its answer holds what. */
  paths?: SearchPaths | undefined;
}

export interface FoundPage {
  title: string;
  url: string;
  text: string;
}

/** The message is for people. */
export class SearchError extends Error {}

/** Results that are told, and the characters of each. */
const most = 8;
const letters = { title: 120, text: 400 };
const bounds = { maxBytes: 1024 * 1024, totalMs: 15_000 };

interface Dialect {
  ask: (service: SearchService, query: string) => { url: string; send: Sent };
  paths: SearchPaths;
}

const bearer = (key: string): Record<string, string> =>
  key === '' ? {} : { authorization: `Bearer ${key}` };

const below = (base: string, path: string): string => `${base.replace(/\/+$/, '')}${path}`;

const posted = (key: string, body: object): Sent => ({
  method: 'POST',
  headers: { ...bearer(key), 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const dialects: Readonly<Record<SearchKind, Dialect>> = {
  searxng: {
    ask: ({ baseUrl, apiKey }, query) => ({
      url: below(
        baseUrl,
        `/search?${new URLSearchParams({ q: query, format: 'json' }).toString()}`,
      ),
      send: { headers: bearer(apiKey) },
    }),
    paths: { list: 'results', title: 'title', url: 'url', text: 'content' },
  },
  bocha: {
    ask: ({ baseUrl, apiKey }, query) => ({
      url: below(baseUrl, '/web-search'),
      send: posted(apiKey, { query, summary: true, count: most }),
    }),
    paths: { list: 'data.webPages.value', title: 'name', url: 'url', text: 'summary' },
  },
  tavily: {
    ask: ({ baseUrl, apiKey }, query) => ({
      url: below(baseUrl, '/search'),
      send: posted(apiKey, { query, max_results: most }),
    }),
    paths: { list: 'results', title: 'title', url: 'url', text: 'content' },
  },
  brave: {
    ask: ({ baseUrl, apiKey }, query) => ({
      url: below(
        baseUrl,
        `/web/search?${new URLSearchParams({ q: query }).toString()}&count=${most}`,
      ),
      send: { headers: { 'x-subscription-token': apiKey, accept: 'application/json' } },
    }),
    paths: { list: 'web.results', title: 'title', url: 'url', text: 'description' },
  },
  'json-search': {
    ask: ({ baseUrl, apiKey }, query) => ({
      url: baseUrl.replaceAll('{query}', encodeURIComponent(query)),
      send: { headers: bearer(apiKey) },
    }),
    paths: { list: '', title: 'title', url: 'url', text: 'text' },
  },
};

/** What lies at `a.b.0.c`; the empty path: all of it. */
const at = (value: unknown, path: string): unknown =>
  path === ''
    ? value
    : path
        .split('.')
        .reduce<unknown>(
          (found, name) =>
            typeof found === 'object' && found !== null && Object.hasOwn(found, name)
              ? (found as Record<string, unknown>)[name]
              : undefined,
          value,
        );

/** One line of plain words: services mark what was looked for by tags. */
const plain = (value: unknown, length: number): string =>
  typeof value === 'string'
    ? value
        .replaceAll(/<\/?[a-z][^<>]*>/gi, '')
        .replaceAll(/[\s\0]+/g, ' ')
        .trim()
        .slice(0, length)
    : '';

const told = (status: number): string =>
  status === 401 || status === 403
    ? `密钥不对，或没有权限（搜索服务回答 ${status}；SearXNG 请在它的设置里允许 json）`
    : status === 429
      ? '搜索服务说请求太多了，请稍后再试'
      : `搜索服务回答 ${status}`;

/** Asks a service that searches the web. @throws SearchError */
export const searchWeb = async (
  fetch: GuardedFetch,
  service: SearchService,
  query: string,
  signal?: AbortSignal,
): Promise<FoundPage[]> => {
  const dialect = dialects[service.kind];
  const { url, send } = dialect.ask(service, query);
  let status = 0;
  const got = await fetch(url, {
    ...bounds,
    types: ['application/json', 'text/json', 'text/plain', ''],
    send,
    onStatus: (code) => {
      status = code;
    },
    ...(signal ? { signal } : {}),
  });
  if (!got && status !== 0 && status !== 200) throw new SearchError(told(status));
  if (!got)
    throw new SearchError(
      status === 200
        ? '搜索服务的回答不是 JSON，或者太大'
        : '连不上搜索服务（内网的地址要写进 FETCH_ALLOWED）',
    );
  const paths = service.kind === 'json-search' ? (service.paths ?? dialect.paths) : dialect.paths;
  let list: unknown;
  try {
    list = at(JSON.parse(got.data.toString('utf8')), paths.list);
  } catch {
    throw new SearchError('搜索服务的回答不是 JSON');
  }
  if (!Array.isArray(list))
    throw new SearchError(`搜索服务的回答里没有结果（${paths.list || '最外层'} 不是一列）`);
  const seen = new Set<string>();
  return list.flatMap((each): FoundPage[] => {
    const address = plain(at(each, paths.url), 2000);
    if (seen.size >= most || !/^https?:\/\/\S+$/i.test(address) || !URL.canParse(address))
      return [];
    const { href } = new URL(address);
    if (seen.has(href)) return [];
    seen.add(href);
    const text = plain(at(each, paths.text) ?? at(each, 'snippet'), letters.text);
    return [{ title: plain(at(each, paths.title), letters.title) || href, url: href, text }];
  });
};
