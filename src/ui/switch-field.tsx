import { useOnce } from '#src/platform/use-once.ts';
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
  /** Until what it gives ends, the switch takes no other press. */
  onChange: (checked: boolean) => unknown;
}) => {
  const id = useId();
  const { busy, once } = useOnce();
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
        aria-busy={busy || undefined}
        onChange={({ target }) => once(() => onChange(target.checked))}
      />
    </label>
  );
};
