import { keepLast, useCall } from '#src/platform/call-query.ts';
import type { Session } from '#contract/session.ts';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import css from './editor.module.css';

/** After the last letter, ms. */
const pause = 500;
/** So many words are looked for, and so many questions shown. */
const most = { words: 3, questions: 4 };

/** In every second question: they tell nothing of it. */
const common = new Set(
  '怎么 怎样 如何 什么 为什么 哪里 哪个 哪些 可以 能不能 有没有 是不是 一个 这个 那个 时候 请问 大家 问题 应该 比较 没有 不能 还是'.split(
    ' ',
  ),
);

/** What a title is about: its longest words, the first of them first. */
export const wordsOfTitle = (title: string): string[] => {
  if (!('Segmenter' in Intl)) return [];
  const parts = [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(title)];
  const words = parts.flatMap(({ segment, isWordLike }) =>
    isWordLike && segment.length > 1 && !common.has(segment) ? [segment] : [],
  );
  return [...new Set(words)].toSorted((a, b) => b.length - a.length).slice(0, most.words);
};

const usePaused = (text: string): string => {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
};

const useQuestionsWith = (word: string | undefined): readonly Session[] => {
  const list = useCall(
    'sessionList',
    { channel: 'forum', query: word, page: 1 },
    { enabled: word !== undefined, ...keepLast },
  );
  return word === undefined ? [] : (list.data?.list ?? []);
};

/** Below the title while it is written: what was asked like it. */
export const SimilarQuestions = ({ title }: { title: string }) => {
  const [first, second, third] = wordsOfTitle(usePaused(title.trim()));
  const found = [useQuestionsWith(first), useQuestionsWith(second), useQuestionsWith(third)].flat();
  // Most words in common first; where all have as many, in the order of the search.
  const counts = new Map<number, number>();
  for (const { id } of found) counts.set(id, (counts.get(id) ?? 0) + 1);
  const shown = [...new Map(found.map((question) => [question.id, question])).values()]
    .toSorted((a, b) => (counts.get(b.id) ?? 0) - (counts.get(a.id) ?? 0))
    .slice(0, most.questions);
  if (shown.length === 0) return null;
  return (
    <aside className={css.similar} aria-label="相似的问题">
      <h3>也许已经有人问过</h3>
      <ul>
        {shown.map((question) => (
          <li key={question.id}>
            {/* What is being written stays as it is. */}
            <Link to="/chat" search={{ uuid: question.uuid }} target="_blank">
              {question.title}
            </Link>
            <small>
              {question.accepted_id === null ? '' : '已解决 · '}
              {question.reply_count} 个回答
            </small>
          </li>
        ))}
      </ul>
    </aside>
  );
};
