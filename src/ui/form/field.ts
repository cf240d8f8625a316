import { fieldWords } from '#contract/field-words.ts';

/** What one line of a form asks for. Names are those of the call it feeds. */
export interface Field {
  name: string;
  /** Left out: what the field is called everywhere. */
  label?: string;
  kind:
    | 'text'
    | 'long'
    | 'password'
    | 'number'
    | 'switch'
    | 'choice'
    | 'many'
    | 'date'
    | 'moment'
    | 'colour';
  hint?: string;
  placeholder?: string;
  /** What stands behind a number. */
  unit?: string;
  required?: boolean;
  /** What is said where it is required and left empty. */
  missing?: string;
  /** Of choice and many. */
  options?: readonly { value: string; label: string }[];
  /** Of a number; of a text its fewest and most characters. */
  min?: number;
  max?: number;
  step?: number;
  /** Lines of a long text. */
  lines?: number;
  /** The text is read as figures and markup: a font of equal widths. */
  mono?: boolean;
  /** Shown only then. */
  when?: (values: FormValues) => boolean;
  /** What is wrong with it, beside what the rest says. */
  check?: (value: FormValue, values: FormValues) => string | undefined;
}

export type FormValue = string | number | boolean | readonly string[] | null | undefined;
export type FormValues = Record<string, FormValue>;

/** What a field is called: by its form, else as refusals and the log of acts call it, too. */
export const labelOf = ({ name, label }: { name: string; label?: string }): string =>
  label ?? fieldWords[name] ?? name;

const isEmpty = (value: FormValue): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0);

export const isSame = (a: FormValue, b: FormValue): boolean =>
  (isEmpty(a) && isEmpty(b)) || JSON.stringify(a) === JSON.stringify(b);

/** What is wrong with a value, in words; undefined: nothing. The server judges again. */
export const faultOf = (field: Field, values: FormValues): string | undefined => {
  const value = values[field.name];
  const label = labelOf(field);
  if (isEmpty(value))
    return field.required
      ? (field.missing ??
          `请${field.kind === 'choice' || field.kind === 'many' ? '选择' : '填写'}${label}`)
      : undefined;
  if (field.kind === 'number') {
    const number = Number(value);
    if (!Number.isFinite(number)) return `${label}应为数字`;
    if (field.min !== undefined && number < field.min) return `${label}不能小于 ${field.min}`;
    if (field.max !== undefined && number > field.max) return `${label}不能大于 ${field.max}`;
    if ((field.step ?? 1) === 1 && !Number.isInteger(number)) return `${label}应为整数`;
  } else if (typeof value === 'string') {
    if (field.max !== undefined && value.length > field.max)
      return `${label}最多 ${field.max} 个字`;
    if (field.min !== undefined && value.length < field.min)
      return `${label}至少 ${field.min} 个字`;
  }
  return field.check?.(value, values);
};

/** The field that a refusal of the server names, as itself or in brackets behind its word; null: none. */
export const namedFault = (message: string): { name: string; what: string } | null => {
  const [, name, what] = /^(?:[^（）]+（)?(\w+)(?:\.\w+)*）?[ ：] ?(.+)$/.exec(message) ?? [];
  return name === undefined || what === undefined ? null : { name, what };
};

/** The values as a call takes them: numbers as numbers, what is empty left out or null. */
export const valuesFor = (
  fields: readonly Field[],
  values: FormValues,
): Record<string, string | number | boolean | readonly string[] | null | undefined> =>
  Object.fromEntries(
    fields
      .filter(({ when }) => when?.(values) ?? true)
      .map(({ name, kind }) => {
        const value = values[name];
        if (kind === 'switch') return [name, value === true || value === 1];
        if (kind === 'number') return [name, isEmpty(value) ? null : Number(value)];
        if (kind === 'date' || kind === 'moment')
          return [name, isEmpty(value) ? null : new Date(String(value)).toISOString()];
        return [name, value];
      }),
  );
