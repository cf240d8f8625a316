import { labelOf } from '../form/field.ts';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { Icon } from '../icon.tsx';
import css from './filter-bar.module.css';

export type Filter =
  | { kind: 'text'; name: string; label?: string; digits?: boolean }
  | {
      kind: 'choice';
      name: string;
      label?: string;
      options: readonly { value: string; label: string }[];
    };

export type FilterValues = Record<string, string | number | undefined>;

/** How long after the last key a text filters, ms. */
const pause = 400;

const TextFilter = ({
  filter,
  value,
  onChange,
}: {
  filter: Extract<Filter, { kind: 'text' }>;
  value: string;
  onChange: (value: string | undefined) => void;
}) => {
  const [typed, setTyped] = useState(value);
  const [told, setTold] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address changed by itself: what was typed before is of no use any more.
  if (told !== value) {
    setTold(value);
    setTyped(value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (next: string) => {
    clearTimeout(timer.current);
    const clean = filter.digits ? next.replaceAll(/\D/g, '') : next.trim();
    setTold(clean);
    onChange(clean === '' ? undefined : clean);
  };
  return (
    <label className={css.text}>
      <Icon name="search" size={16} />
      <input
        type="search"
        aria-label={labelOf(filter)}
        placeholder={labelOf(filter)}
        inputMode={filter.digits ? 'numeric' : 'search'}
        maxLength={200}
        value={typed}
        onChange={(event) => {
          const next = event.target.value;
          setTyped(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => tell(next), pause);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) tell(typed);
        }}
      />
    </label>
  );
};

/** What narrows a list, in one line; on a phone it is pushed sideways. */
export const FilterBar = ({
  filters,
  values,
  onChange,
  children,
}: {
  filters: readonly Filter[];
  values: FilterValues;
  onChange: (change: Record<string, string | undefined>) => void;
  children?: React.ReactNode;
}) => {
  const some = filters.some(({ name }) => values[name] !== undefined && values[name] !== '');
  return (
    <div className={css.bar} role="search" aria-label="筛选">
      {filters.map((filter) =>
        filter.kind === 'text' ? (
          <TextFilter
            key={filter.name}
            filter={filter}
            value={String(values[filter.name] ?? '')}
            onChange={(value) => onChange({ [filter.name]: value })}
          />
        ) : (
          <select
            key={filter.name}
            className={css.choice}
            aria-label={labelOf(filter)}
            data-on={(values[filter.name] ?? '') !== '' || undefined}
            value={String(values[filter.name] ?? '')}
            onChange={(event) => onChange({ [filter.name]: event.target.value || undefined })}
          >
            <option value="">{labelOf(filter)}：全部</option>
            {filter.options.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ),
      )}
      {children}
      {some && (
        <Button
          size="small"
          kind="ghost"
          onClick={() => onChange(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          清除筛选
        </Button>
      )}
    </div>
  );
};
