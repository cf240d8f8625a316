import css from './auth.module.css';

/** The second proof, once it is asked for; undefined: it is not. */
export const TotpField = ({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (code: string) => void;
}) =>
  value === undefined ? null : (
    <label className={css.formField}>
      <span>动态验证码</span>
      <input
        className="text-input"
        name="totp"
        autoComplete="one-time-code"
        inputMode="text"
        maxLength={40}
        placeholder="手机上的六位数字，或一个恢复码"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
