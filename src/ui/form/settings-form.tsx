import { toast } from '#src/platform/toast.ts';
import type { Field, FormValue } from './field.ts';
import { Form } from './form.tsx';

/** Fields as a call takes them: switches are 0 and 1; of a secret only what is typed now. */
const sentOf = (fields: readonly Field[], values: Readonly<Record<string, FormValue>>) =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }): [string, string | number][] => {
      const value = values[name];
      if (kind === 'switch') return [[name, value === true ? 1 : 0]];
      if (kind === 'number') return [[name, Number(value ?? 0)]];
      return kind === 'password' && !value ? [] : [[name, String(value ?? '').trim()]];
    }),
  );

/** Settings that managers change, each a field of the call that keeps them. */
export const SettingsForm = ({
  settings,
  fields,
  save,
}: {
  /** As they are kept; they may have more than there are fields. */
  settings: Readonly<Record<string, string | number>>;
  fields: readonly Field[];
  save: (change: Record<string, string | number>) => Promise<unknown>;
}) => (
  <Form
    key={JSON.stringify(settings)}
    fields={fields}
    initial={Object.fromEntries(
      fields
        .filter(({ name }) => name in settings)
        .map(({ name, kind }) => [name, kind === 'switch' ? settings[name] === 1 : settings[name]]),
    )}
    submit="保存"
    onSubmit={async (values) => {
      await save(sentOf(fields, values));
      toast('已保存', 'success');
    }}
  />
);
