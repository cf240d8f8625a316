import type { JobKind } from '#contract/job.ts';
import type { WaitNews, WaitSource } from '../waits/wait-source.ts';
import type { JobWords, JobWork } from './job-kind.ts';
import { readForNews } from './job-news.store.ts';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const titleMost = 60;

type Row = Awaited<ReturnType<typeof readForNews>>[number];

const newsOf = (row: Row, words: JobWords, done: string): WaitNews => {
  const url =
    row.sessionUuid === null
      ? (words.url?.(row.subjectId) ?? '/tasks')
      : `/chat?uuid=${row.sessionUuid}&history_id=${row.historyId}`;
  const named = Array.from(row.title || row.words)
    .slice(0, titleMost)
    .join('');
  const title = named || words.name;
  switch (row.state) {
    case 'queued':
    case 'running':
      return { state: 'pending', title, body: '', url };
    case 'done':
      return { state: 'done', title, body: done, url };
    case 'error': {
      const reason = (row.errorMessage || words.failed).replace(/。$/, '');
      const free = row.deductTokens === 0 && !reason.includes('没有扣费') ? '。没有扣费' : '';
      return { state: 'failed', title, body: `${reason}${free}`, url };
    }
    // Whoever cancelled it knows.
    default:
      return { state: 'gone', title, body: '', url };
  }
};

/** News of jobs of these kinds; an id is the uuid of the job. */
export const createJobNews = (kinds: readonly JobWork<unknown>[]): WaitSource => {
  const wordsOf = new Map<JobKind, JobWords>(kinds.map(({ kind, words }) => [kind, words]));
  return async (db, asked) => {
    const wanted = [...new Set(asked.map(({ id }) => id).filter((id) => uuidPattern.test(id)))];
    const rows = wanted.length === 0 ? [] : await readForNews(db, wanted);
    const byUuid = new Map(rows.map((row) => [row.uuid, row]));
    const done = new Map<number, string>();
    for (const [kind, words] of wordsOf) {
      const ids = rows
        .filter((row) => row.kind === kind && row.state === 'done')
        .map(({ id }) => id);
      if (ids.length > 0) for (const [id, text] of await words.done(db, ids)) done.set(id, text);
    }
    return asked.map(({ id, userId }) => {
      const row = byUuid.get(id);
      const words = row && wordsOf.get(row.kind);
      return row && words && row.userId === userId
        ? newsOf(row, words, done.get(row.id) ?? '')
        : null;
    });
  };
};
