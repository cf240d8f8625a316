import { lazyChunk, lazyPart, lazyWithin } from '#src/platform/lazy-chunk.ts';
import { memo, Suspense } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useReadFrom } from './context-store.ts';
import { LiveRows } from './live-rows.tsx';
import { Question, Reply } from './message-row.tsx';
import type { Row } from '#src/widgets/conversation/rows.ts';
import css from './outgoing-note.module.css';
import rowCss from '#src/widgets/conversation/conversation.module.css';

const SideBySide = lazyPart(
  () => import('./side-by-side.tsx'),
  <div className={rowCss.rowWaiting} />,
);
const OutgoingNote = lazyWithin(lazyChunk(() => import('./outgoing-note.tsx')));
const ContextLine = lazyPart(() => import('./context-line.tsx'));
const AiAnswer = lazyPart(() => import('./ai-answer.tsx'), <div className={rowCss.rowWaiting} />);
const Notice = lazyPart(() => import('./notice-row.tsx'));
const PersonMessage = lazyPart(
  () => import('./person-message.tsx'),
  <div className={rowCss.rowWaiting} />,
);

/** Above the first message that the model reads, where there are older ones. */
const ReadFromHere = ({ id }: { id: number }) => {
  const { uuid } = useChatActs();
  return useReadFrom(uuid) === id ? <ContextLine uuid={uuid} /> : null;
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
      return <PersonMessage row={row} />;
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
      if (people) return <AiAnswer row={row} />;
      return row.kind === 'live' ? <LiveRows row={row} /> : <Reply row={row} />;
    case 'side-by-side':
      return <SideBySide row={row} />;
    case 'work':
      return sessionType && <sessionType.Row row={row} />;
    default:
      return <Notice row={row} />;
  }
});
