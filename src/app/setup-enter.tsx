import { useState } from 'react';
import { api } from '#src/platform/api.ts';
import { errorText, isOffline } from '#src/platform/api-error.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { useNavigate } from '@tanstack/react-router';
import { Bridge } from './bridge.tsx';

/** The link that a first start prints: one press signs the owner in, so that no preview uses it up. */
export const SetupEnter = ({ code }: { code: string }) => {
  usePageTitle('欢迎');
  const navigate = useNavigate();
  const [refused, setRefused] = useState('');
  const { busy, run } = useAct((error) =>
    isOffline(error) ? toast(errorText(error)) : setRefused(errorText(error)),
  );
  const enter = () =>
    void run(async () => {
      const { token, profile } = await api.setupEnter({ code }, { quiet: true });
      authStore.set({ token, user: profile });
      await navigate({ to: '/manager/setup', hash: '', replace: true });
    });
  return (
    <div className="page page-centre">
      <h1 className="sr-only">欢迎使用鹊桥</h1>
      <EmptyState
        image={<Bridge />}
        text={
          refused === ''
            ? '欢迎使用鹊桥。这个链接只能用一次，用它进来的是这个站点的所有者。'
            : `${refused}。用户名是 admin，密码和链接一起打印在运行鹊桥的窗口里；都找不到了，在那里运行 npm run owner，会打印一个新的链接。`
        }
        action={
          refused === '' ? (
            <Button kind="primary" busy={busy} onClick={enter}>
              进入，开始起步
            </Button>
          ) : (
            <ButtonLink kind="primary" to="/login">
              用密码登录
            </ButtonLink>
          )
        }
      />
    </div>
  );
};
