import { FieldAlert } from './field-alert.tsx';
import css from './auth.module.css';

/** The name that one signs in with. What else the input needs is given by its form. */
export const AccountField = ({
  value,
  alert,
  onChange,
  ...input
}: {
  value: string;
  alert?: string | undefined;
  onChange: (account: string) => void;
  maxLength?: number;
  placeholder?: string;
}) => (
  <label className={css.formField}>
    <span>用户名</span>
    <input
      className="text-input"
      name="username"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      aria-invalid={alert !== undefined}
      onChange={(event) => onChange(event.target.value)}
      {...input}
    />
    <FieldAlert text={alert} />
  </label>
);
