import * as z from 'zod/mini';
import { call, text } from './call.ts';

export const helpCalls = {
  helpList: call({
    method: 'GET',
    path: '/api/help_list',
    access: 'public',
    summary: '帮助页目录；给出 query 时按相关程度排列',
    input: z.object({ query: z.optional(text(200)) }),
    output: z.object({
      list: z.array(
        z.object({
          slug: z.string(),
          title: z.string(),
          summary: z.string(),
          /** Of the section that answers the query best; empty: what the page begins with. */
          section: z.string(),
        }),
      ),
    }),
  }),
  helpPage: call({
    method: 'GET',
    path: '/api/help_page',
    access: 'public',
    summary: '一页帮助（Markdown）',
    input: z.object({ slug: text(64) }),
    output: z.object({ slug: z.string(), title: z.string(), content: z.string() }),
  }),
};
