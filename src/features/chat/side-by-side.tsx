import { toldApart } from '#src/platform/format.ts';
import { useChatModels } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { useMedia } from '#src/platform/use-media.ts';
import type { Message } from '#contract/chat.ts';
import { memo, useRef, useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import type { LiveReply } from '#src/widgets/conversation/live-reply.ts';
import { LiveRows } from './live-rows.tsx';
import Notice from './notice-row.tsx';
import { Reply } from './message-row.tsx';
import css from './side-by-side.module.css';
import { replyRows, type SideBySideRow } from '#src/widgets/conversation/rows.ts';

/** From here on there is room for two columns. */
const wideEnoughForTwo = '(min-width: 1024px)';

const useLabels = (messages: readonly Message[]): string[] => {
  const acts = useChatActs();
  const models = useChatModels().data;
  return messages.map(({ model }) => {
    const name = model === '' ? acts.model : model;
    return models?.find((each) => each.name === name)?.label ?? name;
  });
};

const failed = new Set<Message['state']>(['error', 'interrupted', 'stopped']);

const Answer = ({
  rowKey,
  message,
  live,
  label,
  chosen,
  newest,
  shown,
}: {
  rowKey: string;
  message: Message;
  live: LiveReply | null;
  label: string;
  /** The conversation goes on with it. */
  chosen: boolean;
  newest: boolean;
  /** It is the one in sight, where only one is. */
  shown: boolean;
}) => {
  const acts = useChatActs();
  const key = `${rowKey}:${message.id}`;
  const writing = message.state === 'streaming';
  // What failed, or stopped before its first word, is nothing to go on from.
  const isEmpty = message.state === 'error' || (failed.has(message.state) && message.ai === '');
  return (
    <section
      className={css.answer}
      data-answer
      aria-label={`${label}的回答`}
      data-shown={shown || undefined}
    >
      <header className={css.answerHead}>
        <h3>{label}</h3>
        {writing && (
          <button
            type="button"
            className={css.answerStop}
            aria-label={`停止${label}`}
            title="停止：问题和已经写出的照常计费"
            onClick={() => acts.stop(message)}
          >
            <Icon name="stop" size={16} />
            停止
          </button>
        )}
      </header>
      {live ? (
        <LiveRows row={{ kind: 'live', key, message, live }} />
      ) : (
        replyRows(key, message, null).map((row) => <Reply key={row.key} row={row} />)
      )}
      {failed.has(message.state) && (
        <Notice row={{ kind: 'notice', key: `${key}:n`, message, newest }} />
      )}
      {acts.owner && !writing && !isEmpty && (
        <button
          type="button"
          className={css.answerChoose}
          aria-pressed={chosen}
          onClick={() => {
            if (!chosen) void acts.choose(message.id);
          }}
        >
          {chosen && <Icon name="check" size={16} />}
          {chosen ? '正在用这个回答' : '用这个回答继续'}
        </button>
      )}
    </section>
  );
};

/** Two models' answers to one question: side by side, or one at a time to swipe between. */
const SideBySide = memo(function SideBySide({ row }: { row: SideBySideRow }) {
  const both = useMedia(wideEnoughForTwo);
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      row.answers.findIndex(({ message }) => message.id === row.message.id),
    ),
  );
  const strip = useRef<HTMLDivElement>(null);
  const labels = useLabels(row.answers.map(({ message }) => message));
  const go = (index: number) => {
    const element = strip.current;
    element?.scrollTo({
      left: index * element.clientWidth,
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth',
    });
    setAt(index);
  };
  return (
    <div className={css.sideBySide} data-message={row.message.id}>
      {!both && (
        <div className={`segments ${css.answerSwitch}`} role="tablist" aria-label="两个模型的回答">
          {toldApart(labels).map((label, index) => (
            <button
              // The same model may answer twice.
              key={row.answers[index]?.message.id}
              type="button"
              role="tab"
              aria-selected={index === at}
              title={labels[index]}
              onClick={() => go(index)}
            >
              {label}
              {row.answers[index]?.message.state === 'streaming' && <i aria-label="正在回复" />}
            </button>
          ))}
        </div>
      )}
      <div
        className={both ? css.answers : `${css.answers} ${css.answersOne}`}
        ref={strip}
        onScroll={(event) => {
          const { scrollLeft, clientWidth } = event.currentTarget;
          if (!both) setAt(Math.round(scrollLeft / Math.max(1, clientWidth)));
        }}
      >
        {row.answers.map(({ message, live }, index) => (
          <Answer
            key={index}
            rowKey={row.key}
            message={message}
            live={live}
            label={labels[index] ?? ''}
            chosen={message.id === row.message.id}
            newest={row.newest}
            shown={both || index === at}
          />
        ))}
      </div>
    </div>
  );
});

export default SideBySide;
