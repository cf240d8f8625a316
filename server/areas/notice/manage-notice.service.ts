import type { Out, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { readTime } from '#server/http/date-range.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { withNotices } from './archive-notices.ts';
import { sourceUrl, noNotice } from './notice.service.ts';
import * as store from './notice.store.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import { pageOf, windowOf } from '#server/paging.ts';

const list = async (
  db: Executor,
  { page, page_size: size, query }: Parsed<'adminNoticeList'>,
): Promise<Out<'adminNoticeList'>> => {
  const part = windowOf(page, size);
  const { rows, total } = await store.pageOfNotices(db, query, part);
  return {
    list: rows.map(({ notice, readers, published }) => ({
      id: notice.id,
      content: notice.content,
      code_url: sourceUrl(notice),
      // The key itself is the right to read the file.
      bucket_key: notice.bucketKey === '' ? '' : notice.fileName || `notice-${notice.id}`,
      file_name: notice.fileName,
      file_size: notice.fileSize,
      view_count: readers,
      created_at: notice.createdAt.toISOString(),
      publish_at: notice.publishAt.toISOString(),
      published: published ? 1 : 0,
    })),
    ...pageOf(total, page, size),
  };
};

export const createManageNoticeHandlers = ({
  storage,
  pageFolder,
}: {
  storage: Storage;
  /** Where the licence and the third-party notices are. */
  pageFolder: string;
}): Pick<Handlers, 'adminNoticeList' | 'saveNotice' | 'delNotice'> => ({
  adminNoticeList: (input, { db }) => list(db, input),

  saveNotice: async (input, { file, noteAct, afterCommit }) => {
    const publishAt = readTime(input.publish_at ?? '', 'publish_at');
    const key = file ? newKey() : '';
    const data = file && (await withNotices(file.data, pageFolder));
    if (data) await storage.put(key, data, file.mime);
    return async (db) => {
      const attached = data
        ? { bucketKey: key, fileName: file.name, fileSize: data.length }
        : input.remove_file === '1'
          ? { bucketKey: '', fileName: '', fileSize: 0 }
          : {};
      // The key itself is the right to read the file: the log does not say it.
      const told = 'fileName' in attached ? { file: attached.fileName } : {};
      const values = { content: input.notice, ...(publishAt ? { publishAt } : {}), ...attached };
      if (input.id === undefined) {
        const id = await store.insertNotice(db, values);
        noteAct({ subject: `notice:${id}`, to: { notice: input.notice, ...told } });
        return { id };
      }
      const before = await store.lockNotice(db, input.id);
      if (!before) throw noNotice();
      await store.changeNotice(db, before.id, values);
      if (attached.bucketKey !== undefined && before.bucketKey !== '')
        afterCommit(() => storage.delete(before.bucketKey));
      noteAct({
        subject: `notice:${before.id}`,
        from: {
          notice: before.content,
          publish_at: before.publishAt,
          ...('file' in told ? { file: before.fileName } : {}),
        },
        to: { notice: input.notice, publish_at: publishAt ?? before.publishAt, ...told },
      });
      return { id: before.id };
    };
  },

  delNotice: async ({ id }, { db, noteAct, afterCommit }) => {
    const gone = await store.removeNotice(db, id);
    if (!gone) throw noNotice();
    noteAct({ subject: `notice:${id}`, from: { notice: gone.content } });
    if (gone.bucketKey !== '') afterCommit(() => storage.delete(gone.bucketKey));
    return {};
  },
});
