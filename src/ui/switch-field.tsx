import { useId } from 'react';

export const SwitchField = ({
  label,
  hint,
  checked,
  disabled = false,
  onChange,
}: {
  label: string;
  hint?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) => {
  const id = useId();
  return (
    <label className="field switch-field" htmlFor={id}>
      <span className="switch-words">
        <span id={`${id}-label`}>{label}</span>
        {hint && (
          <small className="field-hint" id={`${id}-hint`}>
            {hint}
          </small>
        )}
      </span>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={checked}
        disabled={disabled}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  );
};
