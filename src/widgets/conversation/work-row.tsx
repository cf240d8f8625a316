import type { ReactNode } from 'react';
import type { WorkRow } from './rows.ts';
import { Separator } from './separator.tsx';
import css from './work.module.css';
import rowCss from './conversation.module.css';

/** What was asked for, and what came of it below. */
export const WorkRowView = ({
  row: { message, time },
  question,
  answer,
}: {
  row: WorkRow;
  question: ReactNode;
  answer: ReactNode;
}) => (
  <div className={`${rowCss.rowQuestion} ${css.imageRow}`} data-message={message.id}>
    <Separator time={time} />
    {question}
    <div className={css.madeAnswer}>{answer}</div>
  </div>
);
