import { useId } from 'react';

/** A whole number on a scale. `show` words the value (its unit, or the scaled figure). */
export const SliderField = ({
  label,
  hint,
  value,
  min,
  max,
  step = 1,
  show = String,
  disabled = false,
  onChange,
}: {
  label: string;
  hint?: string | undefined;
  value: number;
  min: number;
  max: number;
  step?: number;
  show?: (value: number) => string;
  disabled?: boolean;
  onChange: (value: number) => void;
}) => {
  const id = useId();
  return (
    <div className="field slider-field">
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        <output htmlFor={id}>{show(value)}</output>
      </div>
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        disabled={disabled}
        aria-valuetext={show(value)}
        aria-describedby={hint ? `${id}-hint` : undefined}
        style={{ '--part': `${((value - min) / (max - min)) * 100}%` } as React.CSSProperties}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </div>
  );
};
