import { searches } from '#contract/manage-model.ts';
import { SearchError, searchWeb } from '#server/engines/search/web-search.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { SideServices } from '../model/side-services.ts';
import { textOf, texts, ToolFailure, type Tool } from './tool.ts';

export const webSearchName = 'web_search';

/** Searches of one person in a day: whoever runs this server pays for them. */
const aDay = { account: 200, guest: 20 };

/**
 * Looks for pages. What it finds may be opened without a question; nothing of it can be cited until
 * its page was opened.
 */
export const createWebSearch = (
  fetch: GuardedFetch,
  services: Pick<SideServices, 'find'>,
): Tool => {
  const limitAccounts = createKeyLimit(aDay.account, 86_400, 'web searches');
  const limitGuests = createKeyLimit(aDay.guest, 86_400, 'web searches of guests');
  return {
    label: '联网搜索',
    seconds: 20,
    spec: {
      name: webSearchName,
      description: '搜索互联网。引用一页之前先用 read_page 打开它，再写 [编号]',
      parameters: texts({ query: '' }),
    },
    run: async (given, { user, signal }) => {
      const query = textOf(given, 'query', 200);
      const service = await services.find('search');
      if (!service || !searches(service.kind))
        throw new ToolFailure('现在没有可用的联网搜索，管理员没有设置');
      let told: ReturnType<typeof service.begin> | undefined;
      try {
        await (user.guest ? limitGuests(user.person) : limitAccounts(String(user.id)));
        const { kind, baseUrl, search } = service;
        const asked = { kind, baseUrl, apiKey: service.nextKey(), paths: search };
        told = service.begin();
        const found = await searchWeb(fetch, asked, query, signal);
        told();
        const lines = found.map(({ title, url, text }) => `- ${title}\n  ${url}\n  ${text}`);
        return {
          text: lines.length === 0 ? `没有搜到“${query}”` : lines.join('\n'),
          found: found.map(({ url }) => url),
        };
      } catch (error) {
        if (error instanceof Refusal) throw new ToolFailure('今天的联网搜索用完了，明天再试');
        if (!(error instanceof SearchError)) throw error;
        if (!signal.aborted) told?.(error);
        throw new ToolFailure(error.message);
      }
    },
  };
};
