import { useId } from 'react';
import css from './account.module.css';

/** A few choices of which one holds, all in sight. */
export const ChoiceField = <T extends string | number>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: T;
  choices: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}) => {
  const name = useId();
  return (
    <fieldset className={css.choice}>
      <legend>{label}</legend>
      <div className={css.choiceParts}>
        {choices.map((choice) => (
          <label key={choice.value}>
            <input
              type="radio"
              name={name}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
};
