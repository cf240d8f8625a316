import { Tag } from '#src/ui/chip.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { LiveRow, ReplyRow } from '#src/widgets/conversation/rows.ts';
import { useChatActs, useRowMode } from '#src/widgets/conversation/chat-context.ts';
import { SmallAct } from '#src/widgets/conversation/message-acts.tsx';
import { memo } from 'react';
import css from './ai-answer.module.css';
import { LiveRows } from './live-rows.tsx';
import { Reply } from './message-row.tsx';
import { acceptAnswer } from './question-acts.ts';
import { useQuestion } from './question-context.ts';

/** An answer of at most so many characters takes no more room than a folded one. */
const shortAnswer = 160;

/**
 * A model's answer to a question of the forum, as a card like people's. It is folded until somebody
 * unfolds or accepts it, so that people's answers are met first.
 */
const AiAnswer = memo(function AiAnswer({ row }: { row: ReplyRow | LiveRow }) {
  const question = useQuestion();
  const acts = useChatActs();
  const { message } = row;
  const opened = useRowMode('unfolded', message.id);
  const answer = row.kind === 'live' ? <LiveRows row={row} /> : <Reply row={row} />;
  if (!question) return answer;
  const accepted = question.accepted_id === message.id;
  const first = row.kind === 'live' || row.first;
  const last = row.kind === 'live' || row.last;
  const written = row.kind === 'reply' && row.live === null && message.state !== 'streaming';
  const foldable = written && !accepted && message.ai.length > shortAnswer;
  const folded = foldable && !opened;
  if (folded && !first) return null;
  return (
    <section
      className={css.card}
      data-ai-answer
      data-first={first || undefined}
      data-last={last || folded || undefined}
      data-accepted={accepted || undefined}
      aria-label="AI 的回答"
    >
      {first && (
        <p className={css.marks}>
          <Tag>AI 回答</Tag>
          {accepted && <Tag kind="free">✓ 已采纳</Tag>}
          {written && question.owner && (
            <SmallAct
              icon="check"
              label={accepted ? '取消采纳' : '采纳'}
              pressed={accepted}
              onClick={() => void acceptAnswer(acts.uuid, message.id, !accepted)}
            />
          )}
        </p>
      )}
      <div className={folded ? css.folded : undefined} inert={folded}>
        {answer}
      </div>
      {foldable && (folded || last) && (
        <button
          type="button"
          className={css.unfold}
          aria-expanded={!folded}
          onClick={() => acts.toggle('unfolded', message.id)}
        >
          {folded ? `展开 AI 的回答（${message.ai.length} 字）` : '收起 AI 的回答'}
          <Icon name={folded ? 'down' : 'up'} size={16} />
        </button>
      )}
    </section>
  );
});

export default AiAnswer;
