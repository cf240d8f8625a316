import type { WaitNews, WaitSource } from '#server/waits/wait-source.ts';
import { readForNews } from './reply.store.ts';
import { summaryOf } from '#common/markdown/digest.ts';

const titleMost = 60;

type Row = Awaited<ReturnType<typeof readForNews>>[number];

/** A reason, and that it cost nothing where it did not. */
const reasonOf = ({ errorMessage, deductTokens }: Row): string => {
  const reason = (errorMessage || '回复没有写完').replace(/。$/, '');
  return deductTokens > 0 || reason.includes('没有扣费') ? reason : `${reason}。没有扣费`;
};

const newsOf = (row: Row): WaitNews => {
  const { id, sessionUuid, state, temporary } = row;
  const url = `/chat?uuid=${sessionUuid}&history_id=${id}`;
  const title = Array.from(temporary ? '临时对话' : row.title)
    .slice(0, titleMost)
    .join('');
  switch (state) {
    case 'streaming':
      return { state: 'pending', title, body: '', url };
    case 'done':
      return title === ''
        ? { state: 'done', title: '回复已写好', body: summaryOf(row.beginning), url }
        : { state: 'done', title, body: summaryOf(row.beginning) || '回复已写好', url };
    case 'waiting':
      return { state: 'done', title: title || '回复', body: '有一步需要你同意才能继续', url };
    case 'error':
    case 'interrupted':
      return { state: 'failed', title: title || '回复没有写完', body: reasonOf(row), url };
    // Whoever stopped it knows.
    default:
      return { state: 'gone', title, body: '', url };
  }
};

/** News of replies; an id is the number of the message. */
export const replyNews: WaitSource = async (db, asked) => {
  const numbers = asked.map(({ id }) => (/^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0));
  const wanted = [...new Set(numbers.filter((id) => id > 0))];
  const rows = wanted.length === 0 ? [] : await readForNews(db, wanted);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return asked.map(({ userId }, at) => {
    const row = byId.get(numbers[at]!);
    return row?.userId === userId ? newsOf(row) : null;
  });
};
