import { allDevices } from '#src/platform/known-device.ts';
import '#src/platform/late-calls.ts';
import type { ContactKind } from '#contract/sign-in.ts';
import { limits } from '#contract/limits.ts';
import { api } from '#src/platform/api.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { alertDialog } from '#src/ui/dialog.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button } from '#src/ui/button.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { ToMissing } from '#src/ui/lead-away.tsx';
import { useCode } from '#src/widgets/sign-in/use-code.ts';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { AuthCard } from './auth-card.tsx';
import { CodeFields } from './code-fields.tsx';
import { FieldAlert } from './field-alert.tsx';
import { PasswordField } from './password-field.tsx';
import { useSignIn } from './sign-in.ts';
import { TotpField } from './totp-field.tsx';
import { ViaScreen } from './via-screen.tsx';
import css from './auth.module.css';

const route = getRouteApi('/login/$way');

const ToLogin = ({ back }: { back: string | undefined }) => (
  <Link to="/login" search={{ back }}>
    用密码登录
  </Link>
);

/** Signs in by a code to a mail address or a phone number. */
const CodeScreen = ({ kind, back }: { kind: ContactKind; back: string | undefined }) => {
  const title = kind === 'mail' ? '用邮箱验证码登录' : '用手机验证码登录';
  usePageTitle(title);
  const [to, setTo] = useState('');
  const [code, setCode] = useState('');
  const asked = useCode((read) =>
    api.sendSignInCode({ kind, to, purpose: 'sign_in', devices: allDevices(), ...read }),
  );
  const { submit, busy, totp, setTotp } = useSignIn(back, () => setCode(''));
  const enter = () =>
    submit(() =>
      api.signInByCode({
        kind,
        to,
        code_id: asked.id,
        code,
        totp: totp || undefined,
        devices: allDevices(),
      }),
    );
  const waits = asked.id === '';
  return (
    <AuthCard
      title={title}
      note={`要先在“账户 → 安全”里绑定${kind === 'mail' ? '邮箱' : '手机号'}。`}
      other={<ToLogin back={back} />}
      onSubmit={() => void (waits ? asked.ask() : enter())}
    >
      <CodeFields kind={kind} to={to} code={code} asked={asked} onTo={setTo} onCode={setCode} />
      <TotpField value={totp} onChange={setTotp} />
      <Button kind="primary" type="submit" busy={busy || asked.busy}>
        {waits ? '获取验证码' : busy ? '正在登录…' : '登录'}
      </Button>
    </AuthCard>
  );
};

/** A new password in place of a forgotten one. */
const ForgotForm = ({
  kind,
  back,
  children,
}: {
  kind: ContactKind;
  back: string | undefined;
  /** Above the fields. */
  children: ReactNode;
}) => {
  const navigate = useNavigate();
  const { busy, run } = useAct();
  const [to, setTo] = useState('');
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  const [password2, setPassword2] = useState('');
  const [keepKeys, setKeepKeys] = useState(false);
  const [totp, setTotp] = useState<string>();
  const [fault, setFault] = useState('');
  const asked = useCode((read) =>
    api.sendSignInCode({ kind, to, purpose: 'reset', devices: allDevices(), ...read }),
  );
  const waits = asked.id === '';
  const reset = async () => {
    setFault('');
    await run(async () => {
      const answer = await api.resetForgotten({
        kind,
        to,
        code_id: asked.id,
        code,
        password,
        password2,
        keep_keys: keepKeys ? 1 : 0,
        totp: totp || undefined,
      });
      if (answer.totp && totp === undefined) setTotp('');
      if (answer.error) {
        setFault(answer.error);
        return;
      }
      toast(`新密码已设好，请用它登录“${answer.account ?? ''}”`, 'success');
      await navigate({ to: '/login', search: { back }, replace: true });
      if (answer.unbound)
        await alertDialog({
          title: '最近绑定的已解除',
          text: `${answer.unbound.join('、')}是近 ${limits.latelyBoundDays} 天内绑定的，可能不是您绑定的，已经不能登录这个账号。是您自己的，登录后在“账户 → 安全”里再绑定一次。`,
        });
    });
  };
  return (
    <AuthCard
      title="忘记密码"
      note="用绑定的邮箱或手机号收一个验证码，设一个新密码。其他设备都会退出登录。"
      other={<ToLogin back={back} />}
      onSubmit={() => void (waits ? asked.ask() : reset())}
    >
      {children}
      <CodeFields kind={kind} to={to} code={code} asked={asked} onTo={setTo} onCode={setCode} />
      {!waits && (
        <>
          <PasswordField
            label="新密码"
            name="password"
            autoComplete="new-password"
            value={password}
            onChange={setPassword}
          />
          <p className={css.formHint}>至少 {limits.password.min} 个字符</p>
          <PasswordField
            label="再次输入新密码"
            name="password2"
            autoComplete="new-password"
            value={password2}
            onChange={setPassword2}
          />
          <SwitchField
            label="保留 API-KEY"
            hint="不保留的话，用原来的 KEY 的程序要换上新的"
            checked={keepKeys}
            onChange={setKeepKeys}
          />
          <TotpField value={totp} onChange={setTotp} />
          <FieldAlert text={fault === '' ? undefined : fault} />
        </>
      )}
      <Button kind="primary" type="submit" busy={busy || asked.busy}>
        {waits ? '获取验证码' : '设为新密码'}
      </Button>
    </AuthCard>
  );
};

const ForgotScreen = ({ back }: { back: string | undefined }) => {
  usePageTitle('忘记密码');
  const { data } = useCall('signInWays', {}, steady);
  const [chosen, setChosen] = useState<ContactKind>();
  const kind = chosen ?? (data?.mail === false ? 'phone' : 'mail');
  return (
    <ForgotForm key={kind} kind={kind} back={back}>
      {data?.mail === true && data.phone && (
        <ChipChoice
          label="收验证码的方式"
          value={kind}
          choices={[
            { value: 'mail', label: '邮箱' },
            { value: 'phone', label: '手机号' },
          ]}
          onChange={setChosen}
        />
      )}
    </ForgotForm>
  );
};

/** The ways to sign in besides the password, an address each. */
export const WayScreen = () => {
  const { way } = route.useParams();
  const { back } = route.useSearch();
  const [, via] = /^via-([1-9]\d{0,9})$/.exec(way) ?? [];
  if (via !== undefined) return <ViaScreen id={Number(via)} />;
  if (way === 'mail' || way === 'phone') return <CodeScreen key={way} kind={way} back={back} />;
  return way === 'forgot' ? <ForgotScreen back={back} /> : <ToMissing />;
};
