import { useCall } from '#src/platform/call-query.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import css from './train.module.css';

type Found = Out<'askKnowledge'>['list'][number];

const why = (found: Found): string =>
  [
    found.words_rank > 0 ? `词语排第 ${found.words_rank}` : '',
    found.vector_rank > 0 ? `相似排第 ${found.vector_rank}` : '',
    `问到的内容有 ${Math.round(found.coverage * 100)}% 在这里`,
    found.terms.length > 0 ? `命中 ${found.terms.slice(0, 6).join('、')}` : '',
  ]
    .filter(Boolean)
    .join(' · ');

/** Tries questions: which passages they find, and why these. */
export const TryQuestions = ({ embeddingKey }: { embeddingKey: string }) => {
  const [text, setText] = useState('');
  const [question, setQuestion] = useState('');
  const found = useCall(
    'askKnowledge',
    { embedding_key: embeddingKey, question },
    { enabled: question !== '', staleTime: 0 },
  );
  return (
    <section className={css.section} aria-label="试着问">
      <h2>试着问</h2>
      <form
        className={css.ask}
        onSubmit={(event) => {
          event.preventDefault();
          setQuestion(text.trim());
        }}
      >
        <input
          value={text}
          maxLength={200}
          placeholder="问一个问题，看看会找到哪些段落"
          aria-label="问题"
          enterKeyHint="search"
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" kind="primary" disabled={text.trim() === ''} busy={found.isFetching}>
          找找看
        </Button>
      </form>
      {question !== '' && found.isPending && <Skeleton lines={4} />}
      {found.isError && <QueryFailed query={found} />}
      {found.data?.list.length === 0 && (
        <EmptyState icon="search" text="没有找到有关的段落。换个说法，或者添加更多文件。" />
      )}
      {found.data && found.data.list.length > 0 && (
        <>
          <p className={css.note}>
            {found.data.list.some(({ fits }) => fits)
              ? ''
              : '资料里大概没有答案，最接近的是这些；内置助手会说“资料里没有”。'}
            用了 {found.data.milliseconds} 毫秒。打勾的会随问题交给模型。
          </p>
          <ol className={css.found}>
            {found.data.list.map((each, at) => (
              <li key={each.id || at} data-used={each.used}>
                <h3>
                  {each.used && <span aria-label="会带上">✓ </span>}
                  {each.id > 0 ? (
                    <Link to="/train/passage" search={{ id: each.id }}>
                      {each.title}
                    </Link>
                  ) : (
                    each.title
                  )}
                </h3>
                <p>{each.text}</p>
                <small>{why(each)}</small>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
};
