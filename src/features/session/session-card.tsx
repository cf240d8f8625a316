import { relativeTime } from '@/shared/relative-time.ts';
import { useChatModels } from '@/shared/queries.ts';
import { Avatar } from '@/shared/ui/avatar.tsx';
import { Icon } from '@/shared/ui/icon.tsx';
import type { Session } from '@contract/session.ts';
import { Link } from '@tanstack/react-router';

export const sessionTitle = (session: Pick<Session, 'prompt'>): string =>
  session.prompt || '新会话';

/** A model's label and colour by its name; one that is gone keeps its name. */
export const useModelLook = (name: string): { label: string; color: string; logo: string } => {
  const model = useChatModels().data?.find((each) => each.name === name);
  return model ?? { label: name, color: '', logo: '' };
};

export const SessionCard = ({
  session,
  own,
  onMenu,
}: {
  session: Session;
  /** It belongs to the person here: it has a menu, and its author needs no name. */
  own: boolean;
  onMenu: (session: Session) => void;
}) => {
  const look = useModelLook(session.model);
  const title = sessionTitle(session);
  return (
    <li className="session">
      <Avatar name={look.label} src={look.logo} color={look.color} size={44} />
      <div className="session-words">
        <h3>
          <Link to="/chat" search={{ uuid: session.uuid }} className="session-link">
            {title}
          </Link>
        </h3>
        <p className="session-summary">{session.summary || '还没有回复'}</p>
        <p className="session-facts">
          {!own && (
            <Link
              to="/"
              search={{ channel: 'public', user_id: session.user_id }}
              className="session-author"
              aria-label={`只看 ${session.user_name} 的会话`}
            >
              {session.user_name}
            </Link>
          )}
          <span className="session-model">{look.label}</span>
          {session.reply_count > 0 && <span>{session.reply_count} 条</span>}
          <span className="session-end">
            {session.private === 1 && (
              <span title="私有">
                <Icon name="lock" size={14} />
                <span className="sr-only">私有</span>
              </span>
            )}
            <time dateTime={session.updated_at}>{relativeTime(session.updated_at)}</time>
          </span>
        </p>
      </div>
      {own && (
        <button
          type="button"
          className="session-menu"
          aria-label={`会话“${title}”的更多操作`}
          aria-haspopup="dialog"
          onClick={() => onMenu(session)}
        >
          <Icon name="more" />
        </button>
      )}
    </li>
  );
};
