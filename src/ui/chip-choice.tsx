import { Chip } from './chip.tsx';
import styles from './chip-choice.module.css';

/** A few words of which one holds. */
export const ChipChoice = <T extends string | number>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  /** Undefined: none of them yet. */
  value: T | undefined;
  choices: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}) => (
  <div className={styles['choice']} role="radiogroup" aria-label={label}>
    {choices.map((choice) => (
      <Chip
        key={choice.value}
        role="radio"
        aria-checked={choice.value === value}
        onClick={() => onChange(choice.value)}
      >
        {choice.label}
      </Chip>
    ))}
  </div>
);
