import { ActMenu, type MenuAct } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import type { Session } from '#contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDraft } from '#src/platform/draft.ts';
import type { SessionAct } from './session-acts.ts';
import { sessionTitle } from './session-title.ts';
import css from './home.module.css';

const titleMost = 100;

const Rename = ({ session, onDone }: { session: Session; onDone: (title: string) => void }) => {
  const [draft, setDraft] = useDraft(`rename:${session.uuid}`);
  const [cleared, setCleared] = useState(false);
  const title = cleared ? draft : draft || session.prompt;
  const name = title.trim();
  return (
    <form
      className={css.rename}
      onSubmit={(event) => {
        event.preventDefault();
        if (name === '') return;
        setDraft('');
        onDone(name);
      }}
    >
      <input
        className="text-input"
        aria-label="会话的名字"
        autoFocus
        maxLength={titleMost}
        value={title}
        onChange={({ target: { value } }) => {
          setCleared(value === '');
          setDraft(value === session.prompt ? '' : value);
        }}
      />
      <Button kind="primary" type="submit" disabled={name === ''}>
        保存
      </Button>
    </form>
  );
};

/** What can be done with a session of the list; also the way for those who do not swipe. */
const SessionMenu = ({
  session,
  own,
  starred,
  onAct,
  onClose,
}: {
  session: Session | undefined;
  own: boolean;
  starred: boolean;
  onAct: (act: SessionAct, session: Session) => void;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const [renaming, setRenaming] = useState<Session>();
  const actsOf = (target: Session): readonly (MenuAct | false)[] => [
    {
      icon: 'chat',
      label: '打开会话',
      act: () => void navigate({ to: '/chat', search: { uuid: target.uuid } }),
    },
    own && {
      icon: 'pin',
      label: target.on_top ? '取消置顶' : '置顶',
      act: () => onAct({ name: 'pin', onTop: !target.on_top }, target),
    },
    {
      icon: 'star',
      label: starred ? '取消收藏' : '收藏',
      act: () => onAct({ name: 'favorite' }, target),
    },
    own &&
      target.prompt !== '' && { icon: 'edit', label: '重命名', act: () => setRenaming(target) },
    own && {
      icon: 'trash',
      label: '删除会话',
      danger: true,
      act: () => onAct({ name: 'remove' }, target),
    },
  ];
  return (
    <>
      <Sheet
        popover="list"
        open={session !== undefined}
        onClose={onClose}
        title={session ? sessionTitle(session) : ''}
      >
        {session && <ActMenu acts={actsOf(session)} onClose={onClose} />}
      </Sheet>
      <Sheet open={renaming !== undefined} onClose={() => setRenaming(undefined)} title="重命名">
        {renaming && (
          <Rename
            session={renaming}
            onDone={(title) => {
              setRenaming(undefined);
              if (title !== renaming.prompt) onAct({ name: 'rename', title }, renaming);
            }}
          />
        )}
      </Sheet>
    </>
  );
};

export default SessionMenu;
