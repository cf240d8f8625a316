import { createFairQueue } from '#server/fair-queue.ts';
import { ThreadFailure } from '#server/guarded-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import { runApart } from '#server/guarded-process.ts';
import { whilePageHeld } from '#server/net/fetch-turns.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { workerUrl } from '#server/worker-url.ts';
import { textOf, texts, ToolFailure, type Tool, type ToolContext } from './tool.ts';

const bytes = 10 * 1024 * 1024;
const seconds = 15;
const bounds = { heapMb: 256, growth: 500 * 1024 * 1024, seconds: 10 };
/** Characters of a page that a model is given. */
const most = 20_000;

/** Pages are read in processes of their own: two for everybody and one that guests never hold. */
const inTurn = createFairQueue(3, 24);

/** Kinds of file by what their servers call them; the endings are those of server/reading. */
const endings: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'application/json': 'txt',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/epub+zip': 'epub',
};

export interface PageTask {
  data: Uint8Array;
  ending: string;
  url: string;
  most: number;
}
export type PageAnswer = { title: string; text: string; cut: boolean } | { refused: string };

/** An address as it is compared and opened; null: it is none of the web. */
export const webAddress = (text: string): URL | null => {
  try {
    const url = new URL(text.trim());
    url.hash = '';
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
};

/** The addresses that stand in a text. */
export const addressesIn = (text: string): string[] =>
  [...text.matchAll(/https?:\/\/[^\s<>"'“”‘’（）()，。；、！？】」』[\]{}|\\^`]+/g)].flatMap(
    ([found]) => {
      const url = webAddress(found.replace(/[.,;:!?]+$/, ''));
      return url ? [url.href] : [];
    },
  );

const addressOf = (given: Record<string, unknown>): URL => {
  const url = webAddress(textOf(given, 'url', 2000));
  if (!url) throw new ToolFailure('url 应是 http 或 https 的网址');
  return url;
};

/** What stands at an address. @throws ToolFailure, Refusal too_many, ThreadFailure */
const opened = async (
  fetch: GuardedFetch,
  url: URL,
  { signal, user }: Pick<ToolContext, 'signal' | 'user'>,
): Promise<PageAnswer> => {
  // It may have waited for others until nobody wanted it any more.
  signal.throwIfAborted();
  const got = await fetch(url.href, {
    maxBytes: bytes,
    types: Object.keys(endings),
    totalMs: seconds * 1000,
    signal,
  });
  if (!got) throw new ToolFailure('打不开这个网址：它不在公网上、没有回应、太大，或不是能读的内容');
  const ending = endings[got.mime] ?? 'txt';
  const task: PageTask = { data: got.data, ending, url: url.href, most };
  const worker = workerUrl('./page-worker.ts', import.meta.url);
  return inTurn(user, () => runApart<PageAnswer>(worker, task, bounds));
};

/**
 * Opens what everybody on the internet can open. An address that its person did not write and that
 * no search gave may carry away what a conversation holds, so it is asked about first.
 */
export const createReadPage = (fetch: GuardedFetch): Tool => ({
  label: '读网页',
  // Others may be before it.
  seconds: 60,
  spec: {
    name: 'read_page',
    description: '打开一个网址，读出其中的文字（网页、PDF、Office 文件）',
    parameters: texts({ url: '完整的网址' }),
  },
  asks: (given, { trusted }) => {
    const url = addressOf(given);
    return trusted.has(url.href)
      ? null
      : `打开这个网址：${url.href}\n它不是您写的，也不是搜索找到的；网址里的内容会让 ${url.host} 看到。`;
  },
  run: async (given, context) => {
    const url = addressOf(given);
    let page: PageAnswer;
    try {
      page = await whilePageHeld(context.user, () => opened(fetch, url, context));
    } catch (error) {
      if (error instanceof Refusal) throw new ToolFailure(error.message);
      if (!(error instanceof ThreadFailure)) throw error;
      throw new ToolFailure('这个网页太复杂，无法读取');
    }
    if ('refused' in page) throw new ToolFailure(page.refused);
    const { title, text, cut } = page;
    if (text.trim() === '') throw new ToolFailure('这个网页里没有能读的文字');
    return {
      text: `${title}\n${url.href}\n\n${text}${cut ? '\n\n（后面的部分省略了）' : ''}`,
      pages: [{ title: title || url.host, url: url.href, text }],
    };
  },
});
