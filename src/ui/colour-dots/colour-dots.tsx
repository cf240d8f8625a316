import { useId } from 'react';
import css from './colour-dots.module.css';

/**
 * Colours as dots of which one holds, and any other behind the last one. A dot without a colour of its
 * own stands for what holds otherwise.
 */
export const ColourDots = ({
  label,
  value,
  choices,
  onChange,
  own = value,
  id,
}: {
  label: string;
  /** One of the choices or `#rrggbb`. */
  value: string;
  choices: readonly { value: string; label: string; colour?: string }[];
  onChange: (value: string) => void;
  /** What the field for another colour starts from. */
  own?: string;
  /** Of that field, for a label elsewhere. */
  id?: string;
}) => {
  const made = useId();
  const chosen = choices.some((each) => each.value === value);
  const isColour = /^#[\da-f]{6}$/i.test(own);
  return (
    <div className={css.dots} role="radiogroup" aria-label={label}>
      {choices.map((each) => (
        <button
          key={each.value}
          type="button"
          role="radio"
          className={css.dot}
          aria-checked={each.value === value}
          aria-label={each.label}
          title={each.label}
          data-none={each.colour === undefined || undefined}
          style={each.colour === undefined ? undefined : { background: each.colour }}
          onClick={() => onChange(each.value)}
        />
      ))}
      <label className={css.own} htmlFor={id ?? made} data-on={(!chosen && isColour) || undefined}>
        其他颜色
        <input
          id={id ?? made}
          type="color"
          value={isColour ? own : '#2563eb'}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
    </div>
  );
};
