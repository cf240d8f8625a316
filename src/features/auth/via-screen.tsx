import '#src/platform/late-calls.ts';
import type { Out } from '#contract/calls.ts';
import { errorText } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { allDevices, deviceOf } from '#src/platform/known-device.ts';
import { dropWay, wayOf } from '#src/platform/provider-way.ts';
import { place } from '#src/platform/search.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { AuthCard } from './auth-card.tsx';
import { useSignIn } from './sign-in.ts';
import { TotpField } from './totp-field.tsx';

const lost = '这次登录已经过期，或不是从这个浏览器开始的，请重新来一次';

/** Back from a provider: what it gave along becomes a sign-in, or a link to the account. */
export const ViaScreen = ({ id }: { id: number }) => {
  usePageTitle('登录');
  const router = useRouter();
  const { user } = useAuth();
  const [query] = useState(() => location.search.slice(1));
  const state = new URLSearchParams(query).get('state') ?? '';
  const [way] = useState(() => wayOf(state));
  const [fault, setFault] = useState(way ? '' : lost);
  const back = place({ back: way?.back }, 'back');
  const { submit, busy, totp, setTotp } = useSignIn(back, () => dropWay(state));
  const finish = () =>
    submit(async () => {
      if (!way) return {};
      const device = user?.account ? await deviceOf(user.account) : undefined;
      let answer: Out<'finishProvider'>;
      try {
        answer = await api.finishProvider(
          { id, query, secret: way.secret, totp: totp || undefined, device, devices: allDevices() },
          { quiet: true },
        );
      } catch (error) {
        setFault(errorText(error));
        return {};
      }
      if (answer.linked) {
        dropWay(state);
        toast('已关联', 'success');
        await router.navigate({ to: '/account', search: { tab: 'security' }, replace: true });
        return {};
      }
      // It is said on the page: there is nothing behind a dialog.
      if (answer.error && !answer.totp) {
        setFault(answer.error);
        return {};
      }
      return totp === undefined && answer.totp ? { totp: true } : answer;
    });
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current || !way) return;
    begun.current = true;
    void finish();
  });
  return (
    <AuthCard
      title={fault === '' ? '正在登录' : '没有登录'}
      note={fault === '' ? (totp === undefined ? '请稍候…' : '请再输入动态验证码。') : fault}
      other={null}
      onSubmit={() => void finish()}
    >
      {fault === '' ? (
        totp !== undefined && (
          <>
            <TotpField value={totp} onChange={setTotp} />
            <Button kind="primary" type="submit" busy={busy}>
              {busy ? '正在登录…' : '登录'}
            </Button>
          </>
        )
      ) : (
        <ButtonLink kind="primary" to="/login" search={{ back }}>
          回到登录
        </ButtonLink>
      )}
    </AuthCard>
  );
};
