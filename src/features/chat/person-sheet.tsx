import { attempt } from '#src/platform/attempt.ts';
import { signInFirst } from '#src/platform/server-api.ts';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useNavigate } from '@tanstack/react-router';
import css from './person-message.module.css';
import actCss from '#src/ui/act.module.css';

/** Somebody who wrote here: their public sessions, and a way to write to them alone. */
const PersonSheet = ({
  person,
  onClose,
}: {
  person: { id: number; name: string } | null;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const { user } = useAuth();
  const write = async () => {
    if (!person || signInFirst()) return;
    await attempt(async () => {
      const { uuid } = await api.newFriend({ friend_user_id: person.id });
      onClose();
      await navigate({ to: '/chat', search: { uuid } });
    });
  };
  return (
    <Sheet popover="list" open={person !== null} onClose={onClose} title={person?.name ?? ''}>
      {person && (
        <>
          <p className={css.personCard}>
            <Avatar name={person.name} size={56} />
          </p>
          <button
            type="button"
            className={actCss.act}
            onClick={() => {
              onClose();
              void navigate({ to: '/', search: { channel: 'public', user_id: person.id } });
            }}
          >
            <Icon name="people" />
            {person.name}的公开会话
          </button>
          {user?.id !== person.id && (
            <button type="button" className={actCss.act} onClick={() => void write()}>
              <Icon name="chat" />
              发私信
            </button>
          )}
        </>
      )}
    </Sheet>
  );
};

export default PersonSheet;
