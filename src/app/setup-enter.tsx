import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { useNavigate } from '@tanstack/react-router';
import { Bridge } from './bridge.tsx';

/** The link that a first start prints: one press signs the owner in, so that no preview uses it up. */
export const SetupEnter = ({ code }: { code: string }) => {
  usePageTitle('欢迎');
  const navigate = useNavigate();
  const { busy, run } = useAct();
  const enter = () =>
    void run(async () => {
      const { token, profile } = await api.setupEnter({ code });
      authStore.set({ token, user: profile });
      await navigate({ to: '/manager/setup', hash: '', replace: true });
    });
  return (
    <div className="page page-centre">
      <h1 className="sr-only">欢迎使用鹊桥</h1>
      <EmptyState
        image={<Bridge />}
        text="欢迎使用鹊桥。这个链接只能用一次，用它进来的是这个站点的所有者。"
        action={
          <Button kind="primary" busy={busy} onClick={enter}>
            进入，开始起步
          </Button>
        }
      />
    </div>
  );
};
