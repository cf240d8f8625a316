import { toast } from '#src/platform/toast.ts';
import type { Field, FormValue } from './field.ts';
import { Form } from './form.tsx';

/** What was changed, as a call takes it: switches are 0 and 1. */
const sentOf = (fields: readonly Field[], changed: Readonly<Record<string, FormValue>>) =>
  Object.fromEntries(
    fields
      .filter(({ name }) => name in changed)
      .map(({ name, kind }) => {
        const value = changed[name];
        if (kind === 'switch') return [name, value === true ? 1 : 0];
        return [name, kind === 'number' ? Number(value ?? 0) : String(value ?? '').trim()];
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
    // Begun anew by its own settings alone: what is typed in another form of them stays there.
    key={JSON.stringify(fields.map(({ name }) => settings[name]))}
    fields={fields}
    initial={Object.fromEntries(
      fields
        .filter(({ name }) => name in settings)
        .map(({ name, kind }) => [name, kind === 'switch' ? settings[name] === 1 : settings[name]]),
    )}
    submit="保存"
    onSubmit={async (_values, changed) => {
      await save(sentOf(fields, changed));
      toast('已保存', 'success');
    }}
  />
);
