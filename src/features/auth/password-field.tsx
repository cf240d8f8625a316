import { useId, useState } from 'react';
import { FieldAlert } from './field-alert.tsx';
import css from './auth.module.css';

export const PasswordField = ({
  label,
  name,
  autoComplete,
  value,
  alert,
  onChange,
}: {
  label: string;
  name: string;
  autoComplete: 'current-password' | 'new-password';
  value: string;
  alert?: string | undefined;
  onChange: (value: string) => void;
}) => {
  const [visible, setVisible] = useState(false);
  const id = useId();
  return (
    <div className={css.formField}>
      <label htmlFor={id}>{label}</label>
      <span className={css.password}>
        <input
          id={id}
          className="text-input"
          type={visible ? 'text' : 'password'}
          name={name}
          autoComplete={autoComplete}
          value={value}
          aria-invalid={alert !== undefined}
          onChange={(event) => onChange(event.target.value)}
        />
        <button
          type="button"
          aria-label={`${visible ? '隐藏' : '显示'}${label}`}
          aria-pressed={visible}
          onClick={() => setVisible(!visible)}
        >
          {visible ? '隐藏' : '显示'}
        </button>
      </span>
      <FieldAlert text={alert} />
    </div>
  );
};
