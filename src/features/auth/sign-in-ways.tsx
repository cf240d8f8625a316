import { allDevices } from '#src/platform/known-device.ts';
import '#src/platform/late-calls.ts';
import { api } from '#src/platform/api.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { keepWay } from '#src/platform/provider-way.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { answerPasskey, knowsPasskeys } from '#src/widgets/sign-in/passkey.ts';
import { Link } from '@tanstack/react-router';
import type { useSignIn } from './sign-in.ts';
import css from './auth.module.css';

/** Where a new password can be had, if it can. */
export const Forgot = ({ back }: { back: string | undefined }) => {
  const { data } = useCall('signInWays', {}, steady);
  if (!data || (!data.mail && !data.phone)) return null;
  return (
    <Link className={css.forgot} to="/login/$way" params={{ way: 'forgot' }} search={{ back }}>
      忘记密码？
    </Link>
  );
};

/** The other ways to sign in that are set here; nothing where there are none. */
export const SignInWays = ({
  back,
  submit,
}: {
  back: string | undefined;
  submit: ReturnType<typeof useSignIn>['submit'];
}) => {
  const { data } = useCall('signInWays', {}, steady);
  const { busy, run } = useAct();
  if (!data) return null;
  const passkeys = data.passkeys && knowsPasskeys();
  if (!data.mail && !data.phone && !passkeys && data.providers.length === 0) return null;
  const leave = (id: number) =>
    run(async () => {
      const { url, state, secret } = await api.beginProvider({ id });
      keepWay(state, { secret, ...(back === undefined ? {} : { back }) });
      location.assign(url);
    });
  const byPasskey = () =>
    submit(async () => {
      const { id, options } = await api.passkeyQuestion({});
      const response = await answerPasskey('use', options);
      if (response === null) {
        toast('没有用通行密钥登录');
        return {};
      }
      return api.signInByPasskey({ id, response, devices: allDevices() });
    });
  return (
    <div className={css.ways}>
      <p className={css.or}>或者</p>
      {data.mail && (
        <ButtonLink to="/login/$way" params={{ way: 'mail' }} search={{ back }}>
          用邮箱验证码登录
        </ButtonLink>
      )}
      {data.phone && (
        <ButtonLink to="/login/$way" params={{ way: 'phone' }} search={{ back }}>
          用手机验证码登录
        </ButtonLink>
      )}
      {passkeys && <Button onClick={() => void byPasskey()}>用通行密钥登录</Button>}
      {data.providers.map(({ id, name }) => (
        <Button key={id} busy={busy} onClick={() => void leave(id)}>
          用{name}登录
        </Button>
      ))}
    </div>
  );
};
