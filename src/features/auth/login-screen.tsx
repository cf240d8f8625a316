import { api } from '@/shared/api.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { Button } from '@/shared/ui/button.tsx';
import { toast } from '@/shared/ui/toast.ts';
import { usePageTitle } from '@/shared/use-page-title.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { AccountField } from './account-field.tsx';
import { AuthCard } from './auth-card.tsx';
import { CaptchaField } from './captcha-field.tsx';
import { PasswordField } from './password-field.tsx';
import { useSignIn } from './sign-in.ts';

const route = getRouteApi('/login');

export const LoginScreen = () => {
  usePageTitle('登录');
  const { back } = route.useSearch();
  const { guest } = useAuth();
  const { submit, busy, captcha } = useSignIn(back);
  const [account, setAccount] = useState('');
  const [password, setPassword] = useState('');

  const login = () => {
    // Said at once, and the server still has the last word (document 1 §5).
    if (account.trim() === '') toast('用户名不能为空！', 'error');
    if (password === '') toast('密码不能为空！', 'error');
    void submit((read) => api.login({ account: account.trim(), password, ...read }));
  };

  return (
    <AuthCard
      title="登录鹊桥"
      note={
        guest
          ? '登录之后，现在的会话会归到你的账号里。'
          : '登录之后可以使用全部模型，会话跟着账号走。'
      }
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
      <AccountField value={account} onChange={setAccount} />
      <PasswordField
        label="密码"
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
      {captcha && <CaptchaField {...captcha} />}
      <Button kind="primary" type="submit" busy={busy}>
        {busy ? '正在登录…' : '登录'}
      </Button>
    </AuthCard>
  );
};
