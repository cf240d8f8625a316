import { api } from '@/shared/api.ts';
import { ApiError } from '@/shared/api-error.ts';
import { writeDraft } from '@/shared/draft.ts';
import { confirmDialog } from '@/shared/ui/dialog.ts';
import { Icon } from '@/shared/ui/icon.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { toast } from '@/shared/ui/toast.ts';
import type { Session } from '@contract/session.ts';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { sessionTitle } from './session-card.tsx';

const shorten = (title: string): string => (title.length > 30 ? `${title.slice(0, 30)}…` : title);

/** What an owner can do with a session of the list. */
export const SessionMenu = ({
  session,
  onClose,
}: {
  session: Session | undefined;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: (target: Session) => api.deleteSession({ session_id: target.uuid }),
    onSuccess: (_, target) => {
      writeDraft(target.uuid, '');
      toast('会话已删除', 'success');
    },
  });
  const act = (run: (target: Session) => Promise<unknown>) => {
    if (!session) return;
    onClose();
    // The call has shown its own failure.
    run(session).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  };
  return (
    <Sheet
      open={session !== undefined}
      onClose={onClose}
      title={session ? sessionTitle(session) : ''}
    >
      <button
        type="button"
        className="act"
        onClick={() => act((target) => navigate({ to: '/chat', search: { uuid: target.uuid } }))}
      >
        <Icon name="chat" />
        打开会话
      </button>
      <button
        type="button"
        className="act act-danger"
        onClick={() =>
          act(async (target) => {
            const sure = await confirmDialog({
              title: '删除会话',
              text: `“${shorten(sessionTitle(target))}”和其中的全部消息都会删除，不能恢复。`,
              ok: '删除',
              danger: true,
            });
            if (sure) await remove.mutateAsync(target);
            else toast('已取消删除');
          })
        }
      >
        <Icon name="trash" />
        删除会话
      </button>
    </Sheet>
  );
};
