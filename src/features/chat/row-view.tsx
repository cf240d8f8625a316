import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { memo, Suspense } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useReadFrom } from './context-store.ts';
import { LiveRows } from './live-rows.tsx';
import { Question, Reply } from './message-row.tsx';
import type { Row } from '#src/widgets/conversation/rows.ts';
import css from './outgoing-note.module.css';
import rowCss from '#src/widgets/conversation/conversation.module.css';

const SideBySide = lazyPart(() => import('./side-by-side.tsx'));
const OutgoingNote = lazyPart(() => import('./outgoing-note.tsx'));
const ContextLine = lazyPart(() => import('./context-line.tsx'));
const AiAnswer = lazyPart(() => import('./ai-answer.tsx'));
const Notice = lazyPart(() => import('./notice-row.tsx'));
const PersonMessage = lazyPart(() => import('./person-message.tsx'));

/** Above the first message that the model reads, where there are older ones. */
const ReadFromHere = ({ id }: { id: number }) => {
  const { uuid } = useChatActs();
  return useReadFrom(uuid) === id ? (
    <Suspense fallback={null}>
      <ContextLine uuid={uuid} />
    </Suspense>
  ) : null;
};

/** One row of the list. What not every conversation has is loaded when first met. */
export const RowView = memo(function RowView({ row }: { row: Row }) {
  const { people, sessionType } = useChatActs();
  switch (row.kind) {
    case 'question':
      if (!people)
        return (
          <>
            <ReadFromHere id={row.message.id} />
            <Question row={row} />
          </>
        );
      return (
        <Suspense fallback={<div className={rowCss.rowWaiting} />}>
          <PersonMessage row={row} />
        </Suspense>
      );
    case 'outgoing':
      return (
        <Suspense
          fallback={
            <div className={css.outgoing}>{row.outgoing.state === 'waiting' && '等待发送'}</div>
          }
        >
          <OutgoingNote row={row} />
        </Suspense>
      );
    case 'reply':
    case 'live':
      if (people)
        return (
          <Suspense fallback={<div className={rowCss.rowWaiting} />}>
            <AiAnswer row={row} />
          </Suspense>
        );
      return row.kind === 'live' ? <LiveRows row={row} /> : <Reply row={row} />;
    case 'side-by-side':
      return (
        <Suspense fallback={<div className={rowCss.rowWaiting} />}>
          <SideBySide row={row} />
        </Suspense>
      );
    case 'work':
      return sessionType && <sessionType.Row row={row} />;
    default:
      return (
        <Suspense fallback={null}>
          <Notice row={row} />
        </Suspense>
      );
  }
});
