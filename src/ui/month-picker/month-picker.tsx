import { addMonths, format, isValid, parse } from 'date-fns';
import { useState } from 'react';
import { lastDays } from '../chart/last-days.ts';
import { Icon } from '../icon.tsx';
import css from './month-picker.module.css';

const shape = 'yyyy-MM';

/** A month, `2026-11`; in China's time, never one that is still to come. */
export const MonthPicker = ({
  value,
  onChange,
  label = '月份',
}: {
  value: string;
  onChange: (month: string) => void;
  label?: string;
}) => {
  const [now] = useState(() => new Date());
  const last = lastDays(1)[0]!.slice(0, 7);
  const read = parse(value, shape, now);
  const shown = isValid(read) && value <= last ? value : last;
  const step = (months: number) =>
    onChange(format(addMonths(parse(shown, shape, now), months), shape));
  return (
    <div className={css.month} role="group" aria-label={label}>
      <button type="button" aria-label="上个月" onClick={() => step(-1)}>
        <Icon name="back" size={18} />
      </button>
      <input
        type="month"
        aria-label={label}
        max={last}
        value={shown}
        onChange={(event) => {
          const next = event.target.value;
          if (isValid(parse(next, shape, now))) onChange(next > last ? last : next);
        }}
      />
      <button type="button" aria-label="下个月" disabled={shown >= last} onClick={() => step(1)}>
        <Icon name="forward" size={18} />
      </button>
    </div>
  );
};
