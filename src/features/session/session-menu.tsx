import { Icon } from '@/shared/ui/icon.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import type { Session } from '@contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import { sessionTitle } from './session-card.tsx';

/** What can be done with a session of the list; also the way for those who do not swipe. */
const SessionMenu = ({
  session,
  own,
  onAct,
  onClose,
}: {
  session: Session | undefined;
  own: boolean;
  onAct: (act: 'favorite' | 'remove', session: Session) => void;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const act = (run: (target: Session) => void) => {
    onClose();
    if (session) run(session);
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
        onClick={() =>
          act((target) => void navigate({ to: '/chat', search: { uuid: target.uuid } }))
        }
      >
        <Icon name="chat" />
        打开会话
      </button>
      <button
        type="button"
        className="act"
        onClick={() => act((target) => onAct('favorite', target))}
      >
        <Icon name="star" />
        {session?.favorite ? '取消收藏' : '收藏'}
      </button>
      {own && (
        <button
          type="button"
          className="act act-danger"
          onClick={() => act((target) => onAct('remove', target))}
        >
          <Icon name="trash" />
          删除会话
        </button>
      )}
    </Sheet>
  );
};

export default SessionMenu;
