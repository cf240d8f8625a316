import type { Database } from '../../db/database.ts';
import type { JobWork } from '../../jobs/job-kind.ts';
import { memoPage } from './memo.store.ts';

export const countLivesMs = 600_000;

/** Counts a person's memos. */
export const createMemoCount = (db: Database): JobWork<unknown> => ({
  kind: 'memo',
  livesMs: countLivesMs,
  words: {
    name: '数便笺',
    failed: '没有数成，请重试',
    done: async (_db, ids) => new Map(ids.map((id) => [id, '便笺数好了'])),
    url: () => '/memo',
  },
  work: async (job, io) => {
    const { total } = await memoPage(db, job.user_id, 1);
    io.progress(1);
    return { result: total };
  },
  finish: async (_tx, _job, end) => ({ state: end.state, deductTokens: 0 }),
  discard: () => Promise.resolve(),
  clear: () => Promise.resolve(),
});
