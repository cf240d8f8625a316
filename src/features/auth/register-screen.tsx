import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { Button } from '#src/ui/button.tsx';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { useSite } from '#src/platform/site.ts';
import { AgreementLinks } from '#src/widgets/agreement/agreement-links.tsx';
import { limits } from '#contract/limits.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { AccountField } from './account-field.tsx';
import { AuthCard } from './auth-card.tsx';
import { FieldAlert } from './field-alert.tsx';
import { CaptchaField } from '#src/widgets/sign-in/captcha-field.tsx';
import { PasswordField } from './password-field.tsx';
import { registerAlerts, type RegisterAlerts } from './register-alerts.ts';
import { useSignIn } from './sign-in.ts';
import css from './auth.module.css';

const route = getRouteApi('/register');

/** The operator's texts, agreed to by a tick that nobody sets before. */
const AgreeField = ({
  checked,
  onChange,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
}) => (
  <label className={css.agree}>
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
    <span>
      我已阅读并同意
      <AgreementLinks target="_blank" />
    </span>
  </label>
);

export const RegisterScreen = () => {
  usePageTitle('注册');
  const { back, invite: invited } = route.useSearch();
  const { guest } = useAuth();
  const { signup_tokens: given, agreements, ask_agreements: asks } = useSite();
  const [agreed, setAgreed] = useState(false);
  const kept = useFormDraft('register', { name: '', account: '', invite: '' });
  const [name, account, left] = ['name', 'account', 'invite'].map((field) =>
    String(kept.values[field]),
  ) as [string, string, string];
  // A browser that was killed comes back without the address of the link.
  const invite = invited ?? left;
  useEffect(() => {
    if (invited !== undefined && invited !== left) kept.set({ ...kept.values, invite: invited });
  });
  const { submit, busy, captcha } = useSignIn(back, kept.drop);
  const [password, setPassword] = useState('');
  const [password2, setPassword2] = useState('');
  const [alerts, setAlerts] = useState<RegisterAlerts>({});
  /** The account of a try that was not answered. */
  const unheard = useRef('');

  const register = () => {
    const form = { name: name.trim(), account: account.trim(), password, password2 };
    // Said at once, and the server still has the last word (document 1 §5).
    setAlerts(registerAlerts(form));
    void submit(async (read) => {
      try {
        const answer = await api.register({
          ...form,
          ...(invite ? { invite } : {}),
          ...(agreed ? { agreed: agreements } : {}),
          ...read,
        });
        if (answer.token || unheard.current !== form.account) return answer;
        // It was done by the try before, whose answer was lost.
        const entered = await api.login({ account: form.account, password }, { quiet: true });
        return entered.token ? entered : answer;
      } catch (error) {
        if (error instanceof ApiError && error.status === 0) unheard.current = form.account;
        throw error;
      }
    });
  };

  return (
    <AuthCard
      title="注册鹊桥"
      note={
        guest
          ? '注册之后，现在的会话会归到新账号里。'
          : given > 0
            ? `注册即送 ${given.toLocaleString('zh-CN')} tokens。`
            : ''
      }
      other={
        <>
          {' '}
          已经有账号？
          <Link to="/login" search={{ back }}>
            登录
          </Link>
        </>
      }
      onSubmit={register}
    >
      <label className={css.formField}>
        <span>名称</span>
        <input
          className="text-input"
          name="name"
          autoComplete="nickname"
          maxLength={limits.name.max}
          placeholder="别人看到的名字"
          value={name}
          aria-invalid={alerts.name !== undefined}
          onChange={(event) => kept.set({ ...kept.values, name: event.target.value })}
        />
        <FieldAlert text={alerts.name} />
      </label>
      <AccountField
        maxLength={limits.account.max}
        placeholder={`登录时用，${limits.account.min} 到 ${limits.account.max} 个字符`}
        value={account}
        alert={alerts.account}
        onChange={(next) => kept.set({ ...kept.values, account: next })}
      />
      <PasswordField
        label="密码"
        name="password"
        autoComplete="new-password"
        value={password}
        alert={alerts.password}
        onChange={setPassword}
      />
      <p className={css.formHint}>至少 {limits.password.min} 个字符</p>
      <PasswordField
        label="再次输入密码"
        name="password2"
        autoComplete="new-password"
        value={password2}
        alert={alerts.password2}
        onChange={setPassword2}
      />
      {asks && <AgreeField checked={agreed} onChange={setAgreed} />}
      {captcha && <CaptchaField {...captcha} />}
      <Button kind="primary" type="submit" busy={busy}>
        {busy ? '正在注册…' : '注册'}
      </Button>
    </AuthCard>
  );
};
