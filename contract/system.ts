import * as z from 'zod/mini';
import { call } from './call.ts';
import { agreedItem } from './agreement.ts';
import { footInfo } from './compliance.ts';

export const systemCalls = {
  health: call({
    method: 'GET',
    path: '/api/health',
    access: 'public',
    forDisabled: true,
    summary: '服务器与数据库是否就绪',
    input: z.object({}),
    output: z.object({ ready: z.boolean(), version: z.string() }),
  }),
  siteInfo: call({
    method: 'GET',
    path: '/api/site_info',
    access: 'public',
    forDisabled: true,
    summary: '这个站点：官方网站的地址，以及管理员设置的数字',
    input: z.object({}),
    output: z.object({
      /** Without a slash at its end; empty: this is nobody's official site. */
      official_site: z.string(),
      /** What the code on /wechat says; empty without an official site. */
      wechat: z.string(),
      /** Bytes that a first message has at least. */
      min_prompt_bytes: z.int(),
      /** What a new account is given. */
      signup_tokens: z.int(),
      /** Models can search the web for who asks them to. */
      web_search: z.boolean(),
      /** Who runs this and under which numbers; empty where nothing is set. */
      foot: footInfo,
      /** The agreements that there are, with the version that counts; whether registering asks for them. */
      agreements: z.array(agreedItem),
      ask_agreements: z.boolean(),
      /** What leaves says that a model made it: text, and images that are saved. */
      mark_text: z.boolean(),
      mark_images: z.boolean(),
      /** Whoever signed in may save an image without the words, having agreed to say it themselves. */
      allow_unmarked: z.boolean(),
    }),
  }),
};
