import { memo, type ComponentType, type ReactNode } from 'react';
import { maskName } from '#src/platform/format.ts';
import type { Message } from '#contract/chat.ts';
import { useChatActs } from './chat-context.ts';
import { useLongPress } from './long-press.ts';
import type { WorkRow } from './rows.ts';
import { Separator } from './separator.tsx';
import css from './work.module.css';
import rowCss from './conversation.module.css';

/** What was asked for, in words; `before` and `after` its bubble stands what goes along. */
export const WorkQuestion = ({
  message,
  before,
  after,
  children,
}: {
  message: Message;
  before?: ReactNode;
  after?: ReactNode;
  children: ReactNode;
}) => {
  const acts = useChatActs();
  const press = useLongPress(() => acts.openMenu(message, 'question'));
  return (
    <div className={rowCss.question}>
      {!acts.owner && <span className={rowCss.speaker}>{maskName(message.user_name)}</span>}
      {before}
      <div className={`${rowCss.bubble} ${rowCss.bubbleMine}`} {...press}>
        {children}
      </div>
      {after}
    </div>
  );
};

/** The row of something made: what was asked for, and what came of it below. */
export const workRow = <Asked,>(
  read: (message: Message) => Asked,
  Question: ComponentType<{ message: Message; asked: Asked }>,
  Answer: ComponentType<{ message: Message; asked: Asked }>,
) =>
  memo(function WorkRowView({ row: { message, time } }: { row: WorkRow }) {
    const asked = read(message);
    return (
      <div className={`${rowCss.rowQuestion} ${css.imageRow}`} data-message={message.id}>
        <Separator time={time} />
        <Question message={message} asked={asked} />
        <div className={css.madeAnswer}>
          <Answer message={message} asked={asked} />
        </div>
      </div>
    );
  });
