import { Chip } from '#src/ui/chip.tsx';
import { format, isValid, parseISO } from 'date-fns';
import { type QuickRange, longRanges } from './ranges.ts';
import css from './date-range.module.css';

export interface DateRangeValue {
  /** Key of a quick range; then start and end are worked out when they are needed. */
  quick?: string;
  /** ISO 8601. */
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

/** From when to when: quick ranges, or two moments of one's own. */
export const DateRange = ({
  value,
  onChange,
  ranges = longRanges,
  label = '时间',
}: {
  value: DateRangeValue;
  onChange: (value: DateRangeValue) => void;
  ranges?: readonly QuickRange[];
  label?: string;
}) => {
  const reversed = value.start && value.end && value.start > value.end;
  return (
    <div className={css.range} role="group" aria-label={label}>
      <div className={css.quick}>
        {ranges.map(({ key, label: name }) => (
          <Chip
            key={key}
            aria-pressed={value.quick === key}
            onClick={() => onChange(value.quick === key ? {} : { quick: key })}
          >
            {name}
          </Chip>
        ))}
      </div>
      <div className={css.own}>
        <input
          type="datetime-local"
          aria-label={`${label}：从`}
          value={local(value.start)}
          onChange={(event) => onChange({ start: instant(event.target.value), end: value.end })}
        />
        <span>至</span>
        <input
          type="datetime-local"
          aria-label={`${label}：到`}
          value={local(value.end)}
          onChange={(event) => onChange({ start: value.start, end: instant(event.target.value) })}
        />
        {(value.start || value.end) && <Chip onClick={() => onChange({})}>清除</Chip>}
      </div>
      {reversed && <p className={css.error}>开始时间在结束时间之后</p>}
    </div>
  );
};
