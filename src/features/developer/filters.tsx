import css from './api.module.css';
import { useKeys } from './key-queries.ts';

/** Only what one of the keys did; undefined: all of them. */
export const KeyFilter = ({
  value,
  onChange,
}: {
  value: number | undefined;
  onChange: (key: number | undefined) => void;
}) => {
  const keys = useKeys();
  return (
    <select
      aria-label="API-KEY"
      value={value ?? ''}
      onChange={(event) => onChange(Number(event.target.value) || undefined)}
    >
      <option value="">全部 API-KEY</option>
      {keys.data?.list.map((each) => (
        <option key={each.id} value={each.id}>
          {each.name || each.mask}
        </option>
      ))}
    </select>
  );
};

/** One of a few, side by side. */
export const Toggle = <Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: Value;
  choices: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
}) => (
  <div className={css.toggle} role="group" aria-label={label}>
    {(Object.keys(choices) as Value[]).map((each) => (
      <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
        {choices[each]}
      </button>
    ))}
  </div>
);
