import type { Notice } from '../../contract/notice.ts';
import type { Executor } from '../db/database.ts';
import { Refusal } from '../http/handlers.ts';
import * as store from './notice.store.ts';

/** The newest notice, unless the person has read it: whoever has is not asked about older ones. */
export const unreadNotice = async (db: Executor, userId: number): Promise<Notice | null> => {
  const notice = await store.newestNotice(db);
  if (!notice || (await store.hasRead(db, userId, notice.id))) return null;
  return {
    id: notice.id,
    content: notice.content,
    created_at: notice.createdAt.toISOString(),
    code_url: notice.codeUrl,
    bucket_key: notice.bucketKey,
  };
};

/** @throws Refusal not_found */
export const markNotice = async (db: Executor, userId: number, id: number): Promise<void> => {
  if (!(await store.noticeExists(db, id))) throw new Refusal('not_found', '没有这条公告');
  await store.markRead(db, userId, id);
};
