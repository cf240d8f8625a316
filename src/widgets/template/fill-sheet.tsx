import { Button } from '#src/ui/button.tsx';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import css from './fill-sheet.module.css';
import { fillIn, varsOf } from './template-vars.ts';

/** What is said of the one variable that every scenario may have. */
const inputWords = '内容';

const Fill = ({
  name: template,
  text,
  action,
  busy,
  onDone,
}: {
  name: string;
  text: string;
  action: string;
  busy: boolean;
  onDone: (filled: string) => void;
}) => {
  const names = varsOf(text);
  const kept = useFormDraft(`fill.${template}`, {});
  const values: Record<string, string> = Object.fromEntries(
    names.map((name) => [name, String(kept.values[name] ?? '')]),
  );
  const write = (name: string, value: string) => kept.set({ ...kept.values, [name]: value });
  const missing = names.filter((name) => (values[name] ?? '').trim() === '');
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (missing.length > 0) return;
        onDone(fillIn(text, values));
        kept.drop();
      }}
    >
      {names.map((name) => (
        <label key={name} className={css.field}>
          <span>{name === 'input' ? inputWords : name}</span>
          {name === 'input' ? (
            <textarea
              className="text-input"
              rows={4}
              maxLength={20_000}
              value={values[name] ?? ''}
              onChange={(event) => write(name, event.target.value)}
            />
          ) : (
            <input
              className="text-input"
              maxLength={500}
              value={values[name] ?? ''}
              onChange={(event) => write(name, event.target.value)}
            />
          )}
        </label>
      ))}
      <p className={css.preview}>{fillIn(text, values)}</p>
      <Button kind="primary" type="submit" busy={busy} disabled={missing.length > 0}>
        {missing.length > 0
          ? `还差：${missing.map((each) => (each === 'input' ? inputWords : each)).join('、')}`
          : action}
      </Button>
    </form>
  );
};

/** A small form for the variables of a template, with the text as it will be sent. */
export const FillSheet = ({
  template,
  action,
  busy = false,
  onClose,
  onDone,
}: {
  /** Null: closed. */
  template: { name: string; text: string } | null;
  action: string;
  busy?: boolean;
  onClose: () => void;
  onDone: (filled: string) => void;
}) => (
  <Sheet open={template !== null} onClose={onClose} title={template?.name ?? ''}>
    {template && (
      <Fill
        key={template.text}
        name={template.name}
        text={template.text}
        action={action}
        busy={busy}
        onDone={onDone}
      />
    )}
  </Sheet>
);
