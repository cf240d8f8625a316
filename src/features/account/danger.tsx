import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import css from './account.module.css';

/** What cannot be taken back: all sessions private, or all of them gone. */
export const Danger = () => {
  const { busy, run } = useAct();
  const act = async (
    ask: { title: string; text: string; ok: string },
    /** What is said to whoever thought better of it. */
    cancelled: string,
    work: () => Promise<string>,
  ) => {
    if (!(await confirmDialog({ ...ask, danger: true }))) {
      toast(cancelled);
      return;
    }
    await run(async () => {
      toast(await work(), 'success');
    });
  };
  return (
    <section className={`card ${css.settingsGroup}`}>
      <h2>全部会话</h2>
      <Button
        busy={busy}
        onClick={() =>
          void act(
            {
              title: '全部设为私有',
              text: '您公开的会话与提问，别人都不再看得到。',
              ok: '全部设为私有',
            },
            '已取消',
            async () => `${(await api.sessionPrivate({})).count} 个会话已设为私有`,
          )
        }
      >
        把全部会话设为私有
      </Button>
      <Button
        kind="danger"
        busy={busy}
        onClick={() =>
          void act(
            {
              title: '删除全部会话',
              text: '全部会话和其中的图片都会删除，不能恢复。与别人的私聊不在其内。',
              ok: '全部删除',
            },
            '已取消删除',
            async () => `${(await api.deleteAllSession({})).count} 个会话已删除`,
          )
        }
      >
        删除全部会话
      </Button>
    </section>
  );
};
