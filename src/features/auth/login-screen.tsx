import { api } from '#src/platform/api.ts';
import { deviceOf } from '#src/platform/known-device.ts';
import { noteLoginReason, useLoginReason } from '#src/platform/login-reason.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { Button } from '#src/ui/button.tsx';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { AccountField } from './account-field.tsx';
import { AuthCard } from './auth-card.tsx';
import { CaptchaField } from '#src/widgets/sign-in/captcha-field.tsx';
import { PasswordField } from './password-field.tsx';
import { Forgot, SignInWays } from './sign-in-ways.tsx';
import { useSignIn } from './sign-in.ts';
import { TotpField } from './totp-field.tsx';

const route = getRouteApi('/login');

export const LoginScreen = () => {
  usePageTitle('登录');
  const { back } = route.useSearch();
  const { guest } = useAuth();
  const reason = useLoginReason();
  useEffect(() => () => noteLoginReason(''), []);
  const kept = useFormDraft('login', { account: '' });
  const account = String(kept.values['account']);
  const { submit, busy, captcha, totp, setTotp } = useSignIn(back, kept.drop);
  const [password, setPassword] = useState('');
  const [tried, setTried] = useState(false);

  const login = () => {
    // Said at once, and the server still has the last word (document 1 §5).
    setTried(true);
    void submit(async (read) =>
      api.login({
        account: account.trim(),
        password,
        totp: totp || undefined,
        device: await deviceOf(account),
        ...read,
      }),
    );
  };

  return (
    <AuthCard
      title="登录鹊桥"
      note={
        reason !== ''
          ? `${reason}。${guest ? '登录之后，现在的会话会归到您的账号里。' : ''}`
          : guest
            ? '登录之后，现在的会话会归到您的账号里。'
            : '登录之后可以使用全部模型，会话跟着账号走。'
      }
      ways={<SignInWays back={back} submit={submit} />}
      other={
        <>
          {' '}
          还没有账号？
          <Link to="/register" search={{ back }}>
            注册
          </Link>
        </>
      }
      onSubmit={login}
    >
      <AccountField
        value={account}
        alert={tried && account.trim() === '' ? '用户名不能为空！' : undefined}
        onChange={(next) => kept.set({ account: next })}
      />
      <PasswordField
        label="密码"
        name="password"
        autoComplete="current-password"
        value={password}
        alert={tried && password === '' ? '密码不能为空！' : undefined}
        onChange={setPassword}
      />
      <Forgot back={back} />
      <TotpField value={totp} onChange={setTotp} />
      {captcha && <CaptchaField {...captcha} />}
      <Button kind="primary" type="submit" busy={busy}>
        {busy ? '正在登录…' : '登录'}
      </Button>
    </AuthCard>
  );
};
