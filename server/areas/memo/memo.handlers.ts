import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../db/in-transaction.ts';
import type { Handlers } from '../../http/handlers.ts';
import { beginJob, requireRoomForJob } from '../../jobs/job.service.ts';
import { countLivesMs } from './memo-count.ts';
import { insertMemo, memoPage, pageSize } from './memo.store.ts';

type Row = Awaited<ReturnType<typeof memoPage>>['rows'][number];

const view = ({ id, text, createdAt }: Row) => ({ id, text, created_at: createdAt.toISOString() });
const pageOf = <T>(list: T[], page: number, total: number) => ({
  list,
  page,
  page_count: Math.max(1, Math.ceil(total / pageSize)),
  page_size: pageSize,
  total,
});

export const createMemoHandlers = (): Pick<
  Handlers,
  'memoList' | 'saveMemo' | 'countMemos' | 'manageMemoList'
> => ({
  memoList: async ({ page }, { db, user }) => {
    const { rows, total } = await memoPage(db, user.id, page);
    return pageOf(rows.map(view), page, total);
  },
  saveMemo: async ({ text }, { db, user }) => ({ id: await insertMemo(db, user.id, text) }),
  countMemos: (_input, { db, user }) =>
    inTransaction(db, async (tx) => {
      await requireRoomForJob(tx, user.id);
      const uuid = randomUUID();
      await beginJob(tx, {
        uuid,
        userId: user.id,
        kind: 'memo',
        title: '数便笺',
        model: '',
        subject: { kind: 'account', id: user.id },
        input: {},
        holdId: null,
        heldTokens: 0,
        livesMs: countLivesMs,
      });
      return { request_id: uuid };
    }),
  manageMemoList: async ({ page }, { db }) => {
    const { rows, total } = await memoPage(db, null, page);
    return pageOf(
      rows.map((row) => ({ ...view(row), user_id: row.userId })),
      page,
      total,
    );
  },
});
