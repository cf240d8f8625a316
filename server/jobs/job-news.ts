import type { WaitNews, WaitSource } from '../wait/wait.service.ts';
import { readForNews } from './job-news.store.ts';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const titleMost = 60;

type Row = Awaited<ReturnType<typeof readForNews>>[number];

const newsOf = (row: Row): WaitNews => {
  const url = `/chat?uuid=${row.sessionUuid}&history_id=${row.historyId}`;
  const named = Array.from(row.title || row.words)
    .slice(0, titleMost)
    .join('');
  const title = named || '画图';
  switch (row.state) {
    case 'queued':
    case 'running':
      return { state: 'pending', title, body: '', url };
    case 'done':
      return { state: 'done', title, body: `${row.pictures} 张图片画好了`, url };
    case 'error': {
      const reason = (row.errorMessage || '没有画成').replace(/。$/, '');
      const free = row.deductTokens === 0 && !reason.includes('没有扣费') ? '。没有扣费' : '';
      return { state: 'failed', title, body: `${reason}${free}`, url };
    }
    // Whoever cancelled it knows.
    default:
      return { state: 'gone', title, body: '', url };
  }
};

/** News of jobs; an id is the uuid of the job. */
export const jobNews: WaitSource = async (db, asked) => {
  const wanted = [...new Set(asked.map(({ id }) => id).filter((id) => uuidPattern.test(id)))];
  const rows = wanted.length === 0 ? [] : await readForNews(db, wanted);
  const byUuid = new Map(rows.map((row) => [row.uuid, row]));
  return asked.map(({ id, userId }) => {
    const row = byUuid.get(id);
    return row?.userId === userId ? newsOf(row) : null;
  });
};
