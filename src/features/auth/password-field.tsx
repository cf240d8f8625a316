import { useId, useState } from 'react';

export const PasswordField = ({
  label,
  name,
  autoComplete,
  value,
  onChange,
}: {
  label: string;
  name: string;
  autoComplete: 'current-password' | 'new-password';
  value: string;
  onChange: (value: string) => void;
}) => {
  const [visible, setVisible] = useState(false);
  const id = useId();
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      <span className="password">
        <input
          id={id}
          className="text-input"
          type={visible ? 'text' : 'password'}
          name={name}
          autoComplete={autoComplete}
          value={value}
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
    </div>
  );
};
