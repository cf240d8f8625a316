import type { Out } from '#contract/calls.ts';
import type { Notice } from '#contract/notice.ts';
import type { Executor } from '#server/db/database.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { StoredFile } from '#server/storage/storage-interface.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { membershipOf } from '../ledger/vip.service.ts';
import * as store from './notice.store.ts';

export const noNotice = () => new Refusal('not_found', '没有这条公告');

type Reader = Pick<Identity, 'id' | 'manager'>;

/** Where the source code of a notice is asked for; empty: it has none. */
export const sourceUrl = (row: Pick<store.NoticeRow, 'id' | 'codeUrl' | 'bucketKey'>): string =>
  row.codeUrl === '' && row.bucketKey === '' ? '' : `/api/download_source_code?id=${row.id}`;

const viewOf = (row: store.NoticeRow): Notice => ({
  id: row.id,
  content: row.content,
  // A scheduled one is as old as people know it.
  created_at: row.publishAt.toISOString(),
  // Who has no subscription is led to it by the page; the address itself is asked for.
  code_url: sourceUrl(row),
  // The key itself is the right to read the file.
  bucket_key: row.bucketKey === '' ? '' : row.fileName || `notice-${row.id}`,
  file_size: row.fileSize,
});

/**
 * The newest notice, unless the person has read it (whoever has is not asked about older ones), and
 * how many they have not read.
 */
export const unreadNotice = async (
  db: Executor,
  userId: number | null,
): Promise<{ notice: Notice | null; unread: number }> => {
  const notice = await store.newestNotice(db);
  const read = userId === null ? null : await store.newestRead(db, userId);
  if (!notice || (read && notice.publishAt <= read)) return { notice: null, unread: 0 };
  return { notice: viewOf(notice), unread: await store.countAfter(db, read) };
};

/** A page of notices, newest first, with what of them the person has read. */
export const noticeList = async (
  db: Executor,
  userId: number | null,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<Out<'noticeList'>> => {
  const { list, total } = await store.noticePage(db, windowOf(page, size));
  const read = userId === null ? null : await store.newestRead(db, userId);
  return {
    list: list.map(({ notice, readers }) => ({
      ...viewOf(notice),
      read: read && notice.publishAt <= read ? 1 : 0,
      view_count: readers,
    })),
    ...pageOf(total, page, size),
  };
};

/** A published notice, and whether this person may have its source code. @throws Refusal not_found */
const noticeFor = async (db: Executor, user: Reader, id: number) => {
  const notice = await store.findNotice(db, id);
  if (!notice) throw noNotice();
  const { subscribe = 0 } = (await membershipOf(db, user.id)) ?? {};
  return { notice, subscribed: subscribe > 0 || user.manager };
};

/**
 * Where the source code of a notice lies, for subscribers; empty for others. What is attached is
 * fetched with a ticket, which `makeTicket` makes. @throws Refusal not_found
 */
export const sourceCode = async (
  db: Executor,
  user: Reader,
  id: number,
  makeTicket: () => Promise<string>,
): Promise<string> => {
  const { notice, subscribed } = await noticeFor(db, user, id);
  if (!subscribed) return '';
  if (notice.bucketKey === '') return notice.codeUrl;
  return `/api/notice_file?${new URLSearchParams({ id: String(id), ticket: await makeTicket() }).toString()}`;
};

/** The file attached to a notice, for subscribers. @throws Refusal not_found */
export const attachmentOf = async (
  db: Executor,
  storage: Storage,
  user: Reader,
  id: number,
): Promise<{ name: string; file: StoredFile }> => {
  const { notice, subscribed } = await noticeFor(db, user, id);
  const file = subscribed && notice.bucketKey !== '' ? await storage.get(notice.bucketKey) : null;
  if (!file) throw new Refusal('not_found', '没有这个文件');
  return { name: notice.fileName || `notice-${notice.id}`, file };
};

/** @throws Refusal not_found */
export const markNotice = async (db: Executor, userId: number, id: number): Promise<void> => {
  if (!(await store.noticeExists(db, id))) throw noNotice();
  await store.markRead(db, userId, id);
};
