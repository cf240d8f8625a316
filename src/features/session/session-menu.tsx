import { Button } from '#src/ui/button.tsx';
import { Icon, type IconName } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import type { Session } from '#contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDraft } from '#src/platform/draft.ts';
import type { SessionAct } from './session-acts.ts';
import { sessionTitle } from './session-title.ts';
import actCss from '#src/ui/act.module.css';
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
  const row = (icon: IconName, label: string, run: (target: Session) => void, danger = false) => (
    <button
      type="button"
      className={danger ? `${actCss.act} ${actCss.actDanger}` : actCss.act}
      onClick={() => {
        onClose();
        if (session) run(session);
      }}
    >
      <Icon name={icon} />
      {label}
    </button>
  );
  return (
    <>
      <Sheet
        popover="list"
        open={session !== undefined}
        onClose={onClose}
        title={session ? sessionTitle(session) : ''}
      >
        {row(
          'chat',
          '打开会话',
          (target) => void navigate({ to: '/chat', search: { uuid: target.uuid } }),
        )}
        {own &&
          row('pin', session?.on_top ? '取消置顶' : '置顶', (target) =>
            onAct({ name: 'pin', onTop: !target.on_top }, target),
          )}
        {row('star', starred ? '取消收藏' : '收藏', (target) =>
          onAct({ name: 'favorite' }, target),
        )}
        {own && session?.prompt !== '' && row('edit', '重命名', setRenaming)}
        {own && row('trash', '删除会话', (target) => onAct({ name: 'remove' }, target), true)}
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
