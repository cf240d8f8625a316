import { Icon } from '#src/ui/icon.tsx';
import { useId } from 'react';
import css from './star-choice.module.css';

const words = ['很差', '不太好', '还行', '好', '很好'] as const;

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
      {words.map((word, at) => (
        <label key={word} data-on={at < value || undefined} title={word}>
          <input
            type="radio"
            name={name}
            checked={value === at + 1}
            aria-label={`${at + 1} 星，${word}`}
            onChange={() => onChange(at + 1)}
          />
          <Icon name="star" size={24} />
        </label>
      ))}
    </fieldset>
  );
};
