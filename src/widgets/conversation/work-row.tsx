import type { ReactNode } from 'react';
import type { WorkRow } from './rows.ts';
import { Separator } from './separator.tsx';

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
  <div className="row-question picture-row" data-message={message.id}>
    <Separator time={time} />
    {question}
    <div className="made-answer">{answer}</div>
  </div>
);
