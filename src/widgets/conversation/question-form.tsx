import type { ReactNode } from 'react';
import type { AskedField, ToolQuestion } from '#contract/tool.ts';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { Form } from '#src/ui/form/form.tsx';
import type { QuestionAnswers } from './chat-context.ts';
import css from './tool-cards.module.css';

/** A text of more characters has more lines. */
const oneLine = 200;

const kindOf = ({ kind, format, max = 0, value = '' }: AskedField): Field['kind'] => {
  if (kind === 'boolean') return 'switch';
  if (kind === 'one') return 'choice';
  if (kind === 'many' || kind === 'number') return kind;
  if (kind === 'integer') return 'number';
  if (format === 'date') return 'date';
  if (format === 'date-time') return 'moment';
  return max > oneLine || String(value).includes('\n') ? 'long' : 'text';
};

/** Its own names may be anything: in the form it goes by its place. */
const fieldOf = (asked: AskedField, at: number): Field => {
  const { label, hint, kind, required, options, min = 0, max } = asked;
  return {
    name: `f${at}`,
    label,
    kind: kindOf(asked),
    required,
    ...(hint !== '' && { hint }),
    ...(options && { options }),
    ...(asked.min !== undefined && { min: asked.min }),
    ...(max !== undefined && { max }),
    // Anything but whole numbers.
    ...(kind === 'number' && { step: 0.1 }),
    ...(kind === 'many' && {
      check: (value) => {
        const { length } = Array.isArray(value) ? value : [];
        if (length < min) return `至少选 ${min} 个`;
        return max !== undefined && length > max ? `至多选 ${max} 个` : undefined;
      },
    }),
  };
};

/** What was emptied is told as such: it is not what stood there at first. */
const answersOf = (fields: readonly AskedField[], values: FormValues): QuestionAnswers =>
  Object.fromEntries(
    fields.map(({ name, format }, at) => {
      const value = values[`f${at}`];
      if (typeof value === 'string' && value.trim() !== '')
        return [name, format === 'date' ? value.slice(0, 10) : value];
      if (Array.isArray(value)) return [name, value.length > 0 ? [...(value as string[])] : null];
      return [name, typeof value === 'number' || typeof value === 'boolean' ? value : null];
    }),
  );

/** What a server of tools asks, as a form. All of it is the server's word: plain text. */
const QuestionForm = ({
  question: { from, message, fields },
  draft,
  titled,
  onAnswer,
  declining,
}: {
  question: ToolQuestion;
  draft: string;
  /** Nothing around it says who asks. */
  titled: boolean;
  onAnswer: (answers: QuestionAnswers) => Promise<unknown>;
  /** The button beside that which sends it. */
  declining: ReactNode;
}) => (
  <>
    {titled && <h4>{from} 问您</h4>}
    <p>{message}</p>
    <Form
      fields={fields.map(fieldOf)}
      initial={Object.fromEntries(fields.map(({ value }, at) => [`f${at}`, value]))}
      submit="提交"
      draft={draft}
      onSubmit={(values) => onAnswer(answersOf(fields, values))}
      renderExtra={() => declining}
    >
      <p className={css.warned}>填写的内容会发给“{from}”。不要在这里填密码或密钥。</p>
    </Form>
  </>
);

export default QuestionForm;
