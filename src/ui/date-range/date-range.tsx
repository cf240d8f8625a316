import { Chip } from '#src/ui/chip.tsx';
import { format, isValid, parseISO } from 'date-fns';
import { useState } from 'react';
import { type QuickRange, longRanges } from './ranges.ts';
import css from './date-range.module.css';

export interface DateRangeValue {
  /** Key of a quick range; then start and end are worked out when they are needed. */
  quick?: string;
  /** ISO 8601; YYYY-MM-DD where days are chosen. */
  start?: string;
  end?: string;
}

const local = (iso: string | undefined): string => {
  if (!iso) return '';
  const date = parseISO(iso);
  return isValid(date) ? format(date, "yyyy-MM-dd'T'HH:mm") : '';
};
const instant = (typed: string): string | undefined => {
  const date = typed === '' ? null : new Date(typed);
  return date && isValid(date) ? date.toISOString() : undefined;
};

interface Unit {
  input: 'datetime-local' | 'date';
  /** As the input writes it. */
  written: (value: string | undefined) => string;
  read: (typed: string) => string | undefined;
}
const moments: Unit = { input: 'datetime-local', written: local, read: instant };
const days: Unit = {
  input: 'date',
  written: (value) => value ?? '',
  read: (typed) => typed || undefined,
};

/** From when to when: quick ranges, or two moments or days of one's own. */
export const DateRange = ({
  value,
  onChange,
  ranges = longRanges,
  label = '时间',
  byDay = false,
  last,
  problem,
}: {
  value: DateRangeValue;
  onChange: (value: DateRangeValue) => void;
  ranges?: readonly Pick<QuickRange, 'key' | 'label'>[];
  label?: string;
  byDay?: boolean;
  /** No day behind this one can be chosen. */
  last?: string;
  /** What else is wrong with it. */
  problem?: string | undefined;
}) => {
  const { input, written, read } = byDay ? days : moments;
  const [opened, setOpened] = useState(false);
  const own = opened || Boolean(value.start || value.end);
  const reversed = value.start && value.end && value.start > value.end;
  return (
    <div className={css.range} role="group" aria-label={label}>
      <div className={css.quick}>
        {ranges.map(({ key, label: name }) => (
          <Chip
            key={key}
            aria-pressed={value.quick === key}
            onClick={() => {
              setOpened(false);
              onChange(value.quick === key ? {} : { quick: key });
            }}
          >
            {name}
          </Chip>
        ))}
        <Chip aria-expanded={own} aria-pressed={own} onClick={() => setOpened(!opened)}>
          自选
        </Chip>
      </div>
      <div className={css.own} hidden={!own}>
        <input
          type={input}
          max={last}
          aria-label={`${label}：从`}
          value={written(value.start)}
          onChange={(event) => onChange({ start: read(event.target.value), end: value.end })}
        />
        <span>至</span>
        <input
          type={input}
          max={last}
          aria-label={`${label}：到`}
          value={written(value.end)}
          onChange={(event) => onChange({ start: value.start, end: read(event.target.value) })}
        />
        {(value.start || value.end) && (
          <Chip
            onClick={() => {
              setOpened(false);
              onChange({});
            }}
          >
            清除
          </Chip>
        )}
      </div>
      {(reversed || problem) && (
        <p className={css.error} role="alert">
          {problem ?? '开始时间在结束时间之后'}
        </p>
      )}
    </div>
  );
};
