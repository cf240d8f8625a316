import { useId, type ReactNode } from 'react';
import css from './image-tool.module.css';

export interface Choice<T> {
  value: T;
  label: string;
  /** Shown above the label, for eyes alone. */
  image?: ReactNode;
  hint?: string;
  disabled?: boolean;
}

/** A few choices of which one holds; tiles where they have images. */
export const Choices = <T extends string | number>({
  label,
  hint,
  value,
  choices,
  onChange,
}: {
  label: string;
  hint?: string;
  /** None of them: nothing is chosen. */
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
}) => {
  const name = useId();
  const tiles = choices.some(({ image }) => image !== undefined);
  return (
    <fieldset className={css.toolChoices}>
      <legend>{label}</legend>
      {hint && <p className="field-hint">{hint}</p>}
      <div className={tiles ? css.toolTiles : css.toolChips}>
        {choices.map((choice) => (
          <label key={choice.value} className={tiles ? css.toolTile : css.toolChip}>
            <input
              type="radio"
              name={name}
              checked={choice.value === value}
              disabled={choice.disabled}
              onChange={() => onChange(choice.value)}
            />
            {choice.image}
            <span>{choice.label}</span>
            {choice.hint && <small>{choice.hint}</small>}
          </label>
        ))}
      </div>
    </fieldset>
  );
};
