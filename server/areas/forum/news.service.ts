import type { NewsItem, NewsKind } from '#contract/forum.ts';
import { limits } from '#contract/limits.ts';
import { maskName } from '#contract/mask-name.ts';
import type { Executor } from '#server/db/database.ts';
import type { WaitNews, WaitSource } from '#server/waits/wait-source.ts';
import { pageOf } from '#server/paging.ts';
import { summaryOf } from '#common/markdown/digest.ts';
import { blocksPerson } from '../session/friend.service.ts';
import * as store from './news.store.ts';

export { removeOldNews } from './news.store.ts';

/** What is to be told by push once the transaction is committed. */
export interface Told {
  userId: number;
  id: number;
}

/** What one person does to another one, and not the house. */
const personal: ReadonlySet<NewsKind> = new Set(['reply', 'message', 'mention', 'accept']);

/**
 * Tells somebody of what another one did. Nobody is told of what they did themselves, nor of what
 * somebody did whom they block.
 */
export const tell = async (db: Executor, news: store.NewNews): Promise<Told[]> => {
  const { userId, actorId, kind } = news;
  if (userId === actorId) return [];
  if (personal.has(kind) && (await blocksPerson(db, userId, actorId))) return [];
  const id = await store.addNews(db, news);
  return id === null ? [] : [{ userId, id }];
};

const shortened = (name: string): string => {
  const letters = Array.from(name);
  return letters.length > 16 ? `${letters.slice(0, 15).join('')}…` : name;
};

const maskedName = (name: string): string => shortened(maskName(name));

const words: Record<NewsKind, (who: string, count: number) => string> = {
  reply: (who, count) =>
    count > 1 ? `${who} 等 ${count} 次回复了您的问题` : `${who} 回复了您的问题`,
  message: (who, count) => (count > 1 ? `${who} 给您发来 ${count} 条消息` : `${who} 给您发来消息`),
  mention: (who, count) => (count > 1 ? `${who} 等 ${count} 次提到了您` : `${who} 提到了您`),
  accept: (who) => `${who} 采纳了您的回答`,
  essence: () => '您的问题被设为精华',
  report: () => '您的举报已经处理，谢谢',
};

const excerptOf = ({ words: said }: store.NewsRow): string => summaryOf(said ?? '');

const addressOf = (row: store.NewsRow): string =>
  `/chat?uuid=${row.uuid}${row.history_id === null ? '' : `&history_id=${row.history_id}`}`;

const textOf = (row: store.NewsRow): string =>
  words[row.kind](maskedName(row.actor_name), row.count);

const most = 500;

export const listNews = async (db: Executor, userId: number, page: number) => {
  const pageSize = limits.pageSize;
  const offset = (page - 1) * pageSize;
  const rows = offset >= most ? [] : await store.listNews(db, userId, { offset, limit: pageSize });
  const { total, unread } = await store.countNews(db, userId, most);
  return {
    list: rows.map((row): NewsItem => ({
      id: row.id,
      kind: row.kind,
      uuid: row.uuid,
      history_id: row.history_id,
      title: row.title,
      actor_id: row.actor_id,
      actor_name: maskedName(row.actor_name),
      ...(row.avatar === '' ? {} : { avatar: row.avatar }),
      count: row.count,
      excerpt: excerptOf(row),
      text: textOf(row),
      read: row.read,
      created_at: new Date(row.created_at).toISOString(),
    })),
    ...pageOf(total, page, pageSize),
    unread,
  };
};

export const unreadOf = store.countUnread;

export const markRead = store.markRead;

/** What a push says of news; what was read meanwhile, or is another's, is gone. */
export const newsSource: WaitSource = async (db, asked) => {
  const ids = asked.map(({ id }) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
  const rows = new Map((await store.findNews(db, ids)).map((row) => [row.id, row]));
  return asked.map(({ userId }, at): WaitNews | null => {
    const row = rows.get(ids[at] ?? 0);
    if (row?.user_id !== userId || row.read) return null;
    const excerpt = excerptOf(row);
    return {
      state: 'done',
      title: row.title || '鹊桥',
      body: excerpt === '' ? textOf(row) : `${textOf(row)}：${excerpt}`,
      url: addressOf(row),
    };
  });
};
