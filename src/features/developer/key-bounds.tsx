import { Told } from '#src/platform/api-error.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { ApiKey, KeyBound } from '#contract/developer.ts';
import css from './key-bounds.module.css';

const whiles: Readonly<Record<KeyBound['per'], string>> = {
  minute: '每分钟',
  day: '每天',
  week: '每周',
  month: '每月',
};
const units: Readonly<Record<KeyBound['unit'], string>> = {
  requests: '次请求',
  tokens: '个 token（按模型计数）',
  yuan: '元',
};
const shortUnits: Readonly<Record<KeyBound['unit'], string>> = {
  requests: '次',
  tokens: 'token',
  yuan: '元',
};

/** A bound while it is typed; an empty amount is none. */
export interface TypedBound {
  per: KeyBound['per'];
  unit: KeyBound['unit'];
  amount: string;
}

/** What the typed bounds say. @throws Told */
export const boundsIn = (typed: readonly TypedBound[]): KeyBound[] => {
  const seen = new Set<string>();
  return typed
    .filter(({ amount }) => amount.trim() !== '')
    .map(({ per, unit, amount: text }) => {
      const amount = Number(text);
      const name = `${whiles[per]}的${shortUnits[unit]}`;
      if (!(amount > 0) || (unit !== 'yuan' && !Number.isInteger(amount)))
        throw new Told(`${name}：请填大于 0 的${unit === 'yuan' ? '数' : '整数'}`);
      if (seen.has(`${per} ${unit}`)) throw new Told(`${name}：只能写一条`);
      seen.add(`${per} ${unit}`);
      return { per, unit, amount };
    });
};

/** Rows of "in a while, so much of that", as many as are wanted. */
export const BoundsEditor = ({
  value,
  onChange,
}: {
  value: readonly TypedBound[];
  onChange: (value: TypedBound[]) => void;
}) => {
  const set = (at: number, more: Partial<TypedBound>) =>
    onChange(value.map((each, index) => (index === at ? { ...each, ...more } : each)));
  return (
    <fieldset className={css.bounds}>
      <legend>用量限制</legend>
      {value.map((bound, at) => (
        <div key={at} className={css.row}>
          <select
            aria-label={`第 ${at + 1} 条的时间`}
            value={bound.per}
            onChange={(event) => set(at, { per: event.target.value as KeyBound['per'] })}
          >
            {Object.entries(whiles).map(([per, label]) => (
              <option key={per} value={per}>
                {label}
              </option>
            ))}
          </select>
          <input
            type="text"
            inputMode="decimal"
            aria-label={`第 ${at + 1} 条的数量`}
            placeholder="最多"
            value={bound.amount}
            onChange={(event) => set(at, { amount: event.target.value })}
          />
          <Button
            kind="ghost"
            size="icon"
            aria-label={`去掉第 ${at + 1} 条`}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          >
            <Icon name="close" />
          </Button>
          <select
            aria-label={`第 ${at + 1} 条的单位`}
            value={bound.unit}
            onChange={(event) => set(at, { unit: event.target.value as KeyBound['unit'] })}
          >
            {Object.entries(units).map(([unit, label]) => (
              <option key={unit} value={unit}>
                {label}
              </option>
            ))}
          </select>
        </div>
      ))}
      {value.length < 12 && (
        <Button
          size="small"
          onClick={() => onChange([...value, { per: 'day', unit: 'yuan', amount: '' }])}
        >
          <Icon name="plus" size={18} />
          加一条限制
        </Button>
      )}
      <small className="field-hint">
        超过任何一条就不能再调用，一个 token 也不会多用；时间按北京时间，每分钟按最近 60 秒。
      </small>
    </fieldset>
  );
};

const amount = (value: number): string =>
  value.toLocaleString('zh-CN', { maximumFractionDigits: 4 });

/** How much of each bound of a key is left. */
export const BoundMeters = ({ limits }: { limits: ApiKey['limits'] }) => (
  <ul className={css.meters}>
    {limits.map(({ per, unit, amount: most, left }) => (
      <li key={`${per} ${unit}`}>
        <span>
          {whiles[per]} {amount(most)} {shortUnits[unit]}
        </span>
        <span className="tabular">还剩 {amount(left)}</span>
        <meter min={0} max={most} value={most - left} aria-label={`${whiles[per]}已用`} />
      </li>
    ))}
  </ul>
);
