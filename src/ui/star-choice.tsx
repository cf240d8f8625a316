import { Icon } from '#src/ui/icon.tsx';
import { useId } from 'react';
import css from './star-choice.module.css';

/** One to five stars, by finger, mouse or arrow keys. */
export const StarChoice = ({
  label,
  value,
  onChange,
}: {
  label: string;
  /** 0: none chosen yet. */
  value: number;
  onChange: (stars: number) => void;
}) => {
  const name = useId();
  return (
    <fieldset className={css.stars}>
      <legend>{label}</legend>
      {[1, 2, 3, 4, 5].map((stars) => (
        <label key={stars} data-on={stars <= value || undefined}>
          <input
            type="radio"
            name={name}
            checked={value === stars}
            aria-label={`${stars} 星`}
            onChange={() => onChange(stars)}
          />
          <Icon name="star" size={24} />
        </label>
      ))}
    </fieldset>
  );
};
