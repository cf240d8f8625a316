import { ApiError, errorText } from '#src/platform/api-error.ts';
import Input from 'antd-mobile/es/components/input';
import Selector from 'antd-mobile/es/components/selector';
import Switch from 'antd-mobile/es/components/switch';
import TextArea from 'antd-mobile/es/components/text-area';
import { format, isValid, parseISO } from 'date-fns';
import { useId, useRef, useState, type ReactNode, type RefObject } from 'react';
import { accentChoices } from '#src/platform/accent-tones.ts';
import { Button } from '../button.tsx';
import { ColourDots } from '../colour-dots/colour-dots.tsx';
import {
  faultOf,
  isSame,
  labelOf,
  namedFault,
  valuesFor,
  type Field,
  type FormValue,
  type FormValues,
} from './field.ts';
import { useFormDraft } from './form-draft.ts';
import css from './form.module.css';

/** A choice of so few is shown at once. */
const fewChoices = 5;

const dateShape = { date: 'yyyy-MM-dd', moment: "yyyy-MM-dd'T'HH:mm" } as const;
const shownDate = (value: FormValue, kind: 'date' | 'moment'): string => {
  if (typeof value !== 'string' || value === '') return '';
  const date = parseISO(value);
  return isValid(date) ? format(date, dateShape[kind]) : value;
};

interface ControlProps {
  field: Field;
  value: FormValue;
  id: string;
  describedBy: string | undefined;
  onChange: (value: FormValue) => void;
}

const textOf = (value: FormValue): string =>
  value === null || value === undefined ? '' : String(value);

/** One of a few, all in sight, or of many. */
const Choice = ({ field, value, id, describedBy, onChange }: ControlProps) => {
  const text = textOf(value);
  if ((field.options?.length ?? 0) <= fewChoices)
    return (
      <Selector
        className={css.selector}
        options={(field.options ?? []).map((option) => ({ ...option }))}
        // Nothing may be one of the choices.
        value={field.options?.some(({ value: each }) => each === text) ? [text] : []}
        onChange={(chosen) => {
          // What is chosen stays so when it is touched again, where something must be.
          if (chosen.length > 0 || !field.required) onChange(chosen[0] ?? '');
        }}
        aria-labelledby={`${id}-label`}
      />
    );
  return (
    <select
      id={id}
      className={css.select}
      value={text}
      aria-describedby={describedBy}
      onChange={(event) => onChange(event.target.value)}
    >
      {!field.options?.some((option) => option.value === '') && <option value="">请选择</option>}
      {field.options?.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
};

const Line = ({ field, value, id, describedBy, onChange }: ControlProps) => (
  <span className={css.line}>
    <Input
      id={id}
      className={css.input}
      type={field.kind === 'password' ? 'password' : 'text'}
      inputMode={field.kind === 'number' ? 'decimal' : 'text'}
      autoComplete={field.kind === 'password' ? 'new-password' : 'off'}
      value={textOf(value)}
      placeholder={field.placeholder}
      {...(field.max === undefined || field.kind === 'number' ? {} : { maxLength: field.max })}
      aria-describedby={describedBy}
      onChange={onChange}
    />
    {field.unit && <span className={css.unit}>{field.unit}</span>}
  </span>
);

const Control = (props: ControlProps) => {
  const { field, value, id, describedBy, onChange } = props;
  const text = textOf(value);
  switch (field.kind) {
    case 'switch':
      return (
        <span className={css.switch}>
          <Switch
            checked={value === true || value === 1}
            onChange={onChange}
            aria-labelledby={`${id}-label`}
          />
        </span>
      );
    case 'long':
      return (
        <TextArea
          id={id}
          className={field.mono ? `${css.input} ${css.mono}` : css.input}
          value={text}
          rows={field.lines ?? 3}
          autoSize={{ minRows: field.lines ?? 3, maxRows: 16 }}
          placeholder={field.placeholder}
          {...(field.max === undefined ? {} : { maxLength: field.max })}
          aria-describedby={describedBy}
          onChange={onChange}
        />
      );
    case 'choice':
      return <Choice {...props} />;
    case 'many':
      return (
        <Selector
          multiple
          className={css.selector}
          options={(field.options ?? []).map((option) => ({ ...option }))}
          value={Array.isArray(value) ? [...(value as string[])] : []}
          onChange={(chosen) => onChange(chosen)}
          aria-labelledby={`${id}-label`}
        />
      );
    case 'date':
    case 'moment':
      return (
        <input
          id={id}
          className={css.select}
          type={field.kind === 'date' ? 'date' : 'datetime-local'}
          value={shownDate(value, field.kind)}
          aria-describedby={describedBy}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case 'colour':
      return (
        <ColourDots
          label={labelOf(field)}
          id={id}
          value={text}
          choices={accentChoices}
          onChange={onChange}
        />
      );
    default:
      return <Line {...props} />;
  }
};

/** A field with its name, what to know about it and what is wrong with it. */
const FieldRow = ({
  fault,
  ...props
}: Omit<ControlProps, 'describedBy'> & { fault: string | undefined }) => {
  const { field, id } = props;
  const describedBy =
    [field.hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined;
  return (
    <div
      className={css.field}
      data-field={field.name}
      data-kind={field.kind}
      data-wrong={fault ? '' : undefined}
    >
      <label id={`${id}-label`} htmlFor={id}>
        {labelOf(field)}
        {field.required && (
          <span className={css.star} aria-hidden="true">
            *
          </span>
        )}
      </label>
      <Control {...props} describedBy={describedBy} />
      {field.hint && (
        <small className="field-hint" id={`${id}-hint`}>
          {field.hint}
        </small>
      )}
      {fault && (
        <small className={css.fault} id={`${id}-fault`} role="alert">
          {fault}
        </small>
      )}
    </div>
  );
};

interface FormProps {
  fields: readonly Field[];
  initial?: FormValues;
  /** What the button says. */
  submit?: string;
  danger?: boolean;
  /** What is typed is kept under this name until it is sent. Never where secrets are typed. */
  draft?: string;
  /**
   * Gets the values as a call takes them, and those of them alone that are not what the form began
   * with: another may have changed the rest meanwhile. What it throws is shown.
   */
  onSubmit: (
    values: ReturnType<typeof valuesFor>,
    changed: ReturnType<typeof valuesFor>,
  ) => Promise<unknown>;
  onChange?: (values: FormValues) => void;
  /** Beside the button. */
  renderExtra?: (values: FormValues) => ReactNode;
  /** Between fields and button. */
  children?: ReactNode;
  /** What most do without, behind a press below that. */
  folded?: { title: string; fields: readonly Field[]; children?: ReactNode } | undefined;
  /** The button stays on the screen, however long the form is. */
  footInSight?: boolean;
}

/** What was typed, what is wrong with it, and its way to the server. */
const useForm = (
  {
    fields,
    initial = {},
    draft,
    onSubmit,
    onChange,
  }: Pick<FormProps, 'fields' | 'initial' | 'draft' | 'onSubmit' | 'onChange'>,
  place: RefObject<HTMLFormElement | null>,
) => {
  const { values, resumed, set: keep, drop, discard } = useFormDraft(draft, initial);
  const [began] = useState(initial);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  const shown = fields.filter(({ when }) => when?.(values) ?? true);
  const show = (found: Record<string, string>) => {
    setFaults(found);
    const [first] = shown.filter(({ name }) => found[name]);
    const box =
      first &&
      place.current?.querySelector<HTMLElement>(
        `[data-field="${first.name}"] :is(input, textarea, select)`,
      );
    box?.closest('details')?.setAttribute('open', '');
    box?.focus();
  };
  const set = (name: string, value: FormValue) => {
    const next = { ...values, [name]: value };
    keep(next);
    if (faults[name]) setFaults({ ...faults, [name]: '' });
    onChange?.(next);
  };
  const send = async () => {
    setFailed('');
    const found = Object.fromEntries(
      shown.flatMap((field) => {
        const fault = faultOf(field, values);
        return fault ? [[field.name, fault]] : [];
      }),
    );
    show(found);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    try {
      const touched = fields.filter(({ name }) => !isSame(values[name], began[name]));
      await onSubmit(valuesFor(fields, values), valuesFor(touched, values));
      drop();
    } catch (error) {
      const named = error instanceof ApiError ? namedFault(error.message) : null;
      if (named && shown.some(({ name }) => name === named.name))
        show({ [named.name]: named.what });
      else setFailed(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const restart = () => {
    discard();
    setFaults({});
    onChange?.(initial);
  };
  return { values, resumed, shown, faults, failed, busy, set, send, restart };
};

/**
 * A form made of a description of its fields. What is wrong stands beside the field, also when the
 * server names it (`field …`); what was typed stays.
 */
export const Form = ({
  fields,
  initial = {},
  submit = '保存',
  danger = false,
  draft,
  onSubmit,
  onChange,
  renderExtra,
  children,
  folded,
  footInSight = false,
}: FormProps) => {
  const id = useId();
  const place = useRef<HTMLFormElement>(null);
  const all = [...fields, ...(folded?.fields ?? [])];
  const form = useForm({ fields: all, initial, draft, onSubmit, onChange }, place);
  const { values, resumed, shown, faults, failed, busy, set, send, restart } = form;
  const row = (field: Field) => (
    <FieldRow
      key={field.name}
      field={field}
      id={`${id}-${field.name}`}
      value={values[field.name]}
      fault={faults[field.name]}
      onChange={(value) => set(field.name, value)}
    />
  );
  return (
    <form
      ref={place}
      className={css.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void send();
      }}
    >
      {resumed && (
        <p className={css.resumed}>
          接着上次没有保存的内容。
          <Button size="small" kind="ghost" onClick={restart}>
            放弃它
          </Button>
        </p>
      )}
      {shown.filter((field) => fields.includes(field)).map(row)}
      {children}
      {folded && (
        <details className={css.folded}>
          <summary>{folded.title}</summary>
          <div className={css.form}>
            {shown.filter((field) => !fields.includes(field)).map(row)}
            {folded.children}
          </div>
        </details>
      )}
      {failed && (
        <p className={css.fault} role="alert">
          {failed}
        </p>
      )}
      <div className={css.foot} data-in-sight={footInSight || undefined}>
        {renderExtra?.(values)}
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={busy}>
          {submit}
        </Button>
      </div>
    </form>
  );
};
