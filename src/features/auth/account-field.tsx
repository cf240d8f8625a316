/** The name that one signs in with. What else the input needs is given by its form. */
export const AccountField = ({
  value,
  onChange,
  ...input
}: {
  value: string;
  onChange: (account: string) => void;
  maxLength?: number;
  placeholder?: string;
}) => (
  <label className="form-field">
    <span>用户名</span>
    <input
      className="text-input"
      name="username"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      {...input}
    />
  </label>
);
