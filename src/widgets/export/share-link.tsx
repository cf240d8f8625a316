import type { SessionDetail } from '#contract/session.ts';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { errorText } from '#src/platform/api-error.ts';
import { dateTime } from '#src/platform/format.ts';
import { copyText } from '#src/platform/copy.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { toast } from '#src/platform/toast.ts';
import css from './export.module.css';

/** Makes, shows and takes back the public link of one's session. */
export const ShareLink = ({ session }: { session: SessionDetail }) => {
  const { busy, run } = useAct();
  const info = useCall('shareInfo', { session_id: session.uuid });
  const act = (call: () => Promise<unknown>) =>
    run(async () => {
      await call();
      await info.refetch();
    });
  const make = () => act(() => api.shareSession({ session_id: session.uuid }));
  const revoke = async () => {
    const sure = await confirmDialog({
      title: '停止分享',
      text: '停止之后，拿着这个链接的人就看不到了。',
      ok: '停止分享',
      danger: true,
    });
    if (!sure) return;
    await act(async () => {
      await api.unshareSession({ session_id: session.uuid });
      toast('已停止分享', 'success');
    });
  };
  if (info.isPending) return <Skeleton lines={4} />;
  if (info.isError)
    return (
      <EmptyState
        icon="warning"
        text={errorText(info.error)}
        action={
          <Button kind="primary" onClick={() => void info.refetch()}>
            重试
          </Button>
        }
      />
    );
  const { key, created_at: made } = info.data;
  if (key === null)
    return (
      <div className={css.exportPart}>
        <p className={css.exportNote}>
          拿到链接的人不用登录就能看这段对话，内容停在创建链接的那一刻；之后的消息不会出现，随时可以停止。
        </p>
        <Button kind="primary" busy={busy} onClick={() => void make()}>
          创建分享链接
        </Button>
      </div>
    );
  const address = `${location.origin}/share?key=${key}`;
  const share = async () => {
    try {
      await navigator.share({ title: session.prompt || '鹊桥对话', url: address });
    } catch {
      // Stepping back from the phone's own sheet is no failure.
    }
  };
  return (
    <div className={css.exportPart}>
      <label className={css.exportAddress}>
        <span className="sr-only">分享链接</span>
        <input readOnly value={address} onFocus={(event) => event.target.select()} />
      </label>
      {made !== null && (
        <p className={css.exportNote}>{dateTime(made)} 做的链接，里面是那时为止的消息。</p>
      )}
      <div className={css.exportActs}>
        <Button kind="primary" onClick={() => void copyText(address)}>
          复制链接
        </Button>
        {typeof navigator.share === 'function' && (
          <Button onClick={() => void share()}>分享…</Button>
        )}
        <Button busy={busy} onClick={() => void make()}>
          更新到现在
        </Button>
        <Button kind="danger" busy={busy} onClick={() => void revoke()}>
          停止分享
        </Button>
      </div>
    </div>
  );
};
