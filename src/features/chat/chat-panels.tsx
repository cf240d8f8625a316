import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { ExportSheet } from '#src/widgets/export/export-sheet.tsx';
import { act, laterText } from '#src/platform/outbox.ts';
import { ActMenu } from '#src/ui/act.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { useEver } from '#src/platform/use-ever.ts';
import { toast } from '#src/platform/toast.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import type { ReactNode } from 'react';
import { openImageTool } from '#src/widgets/image/image-tool-store.ts';
import { ChatSettings } from './chat-settings.tsx';
import MessageMenu, { type MenuTarget } from './message-menu.tsx';
import PersonSheet from './person-sheet.tsx';
import type { OpenedSource } from './source-sheet.tsx';
import type { Thread } from '#src/widgets/conversation/thread.ts';

/** What stands over the conversation. */
export type Panel =
  | { kind: 'none' | 'more' | 'settings' | 'publish' | 'find' | 'export' | 'report' }
  | { kind: 'menu'; target: MenuTarget }
  | { kind: 'source'; opened: OpenedSource }
  | { kind: 'person'; person: { id: number; name: string } };

const FindSheet = lazyAsked(() => import('./find-sheet.tsx'));
const PublishSheet = lazyAsked(() => import('./publish-sheet.tsx'));
const SourceSheet = lazyAsked(() => import('./source-sheet.tsx'));
const ReportSheet = lazyAsked(() =>
  import('./question-sheets.tsx').then(({ ReportSheet: part }) => ({ default: part })),
);

/** Loaded once it was asked for; then it stays, so that closing can be animated. */
const Once = ({ when, children }: { when: boolean; children: ReactNode }) =>
  useEver(when) && children;

/** What can be done with the whole session. */
const SessionSheet = ({
  session,
  thread,
  open,
  newestFirst,
  onClose,
  onPanel,
  onSort,
}: {
  session: SessionDetail;
  thread: Thread;
  open: boolean;
  newestFirst: boolean;
  onClose: () => void;
  onPanel: (kind: 'settings' | 'find' | 'export' | 'report') => void;
  onSort: () => void;
}) => {
  const navigate = useNavigate();
  const { friend } = session;

  const favourite = () =>
    attempt(async () => {
      const input = { session_id: session.uuid };
      const name = session.favorite === true ? 'removeFromFavorites' : 'addToFavorites';
      const done = await act(name, session.uuid, input);
      const text = session.favorite === true ? '已取消收藏' : '已收藏';
      toast(done ? text : `${text}，${laterText}`, 'success');
    });
  const block = (on: boolean) =>
    attempt(async () => {
      await api.answerFriend({ session_id: session.uuid, act: on ? 'block' : 'unblock' });
      toast(on ? '已屏蔽，不会再收到对方的消息' : '已取消屏蔽', 'success');
    });
  const remove = async () => {
    const sure = await confirmDelete({
      title: '删除会话',
      text: '会话和其中的全部消息都会删除，不能恢复。',
    });
    if (!sure) return;
    await attempt(async () => {
      await act('deleteSession', session.uuid, { session_id: session.uuid });
      thread.store.forget();
      writeDraft(session.uuid, '');
      toast('会话已删除', 'success');
      void navigate({ to: '/', search: { channel: 'private' } });
    });
  };
  const blocking = friend?.state === 'blocking';

  return (
    <Sheet popover="list" open={open} onClose={onClose} title="会话">
      <ActMenu
        onClose={onClose}
        acts={[
          { icon: 'search', label: '查找', act: () => onPanel('find') },
          { icon: 'sort', label: newestFirst ? '改为最新在下' : '改为最新在上', act: onSort },
          !session.temporary && {
            icon: 'star',
            label: session.favorite === true ? '取消收藏会话' : '收藏会话',
            act: () => void favourite(),
          },
          { icon: 'share', label: '导出与分享', act: () => onPanel('export') },
          session.owner && { icon: 'settings', label: '设置', act: () => onPanel('settings') },
          friend !== null && {
            icon: 'lock',
            label: blocking ? '取消屏蔽对方' : '屏蔽对方',
            act: () => void block(!blocking),
          },
          friend !== null && { icon: 'warning', label: '举报对方', act: () => onPanel('report') },
          session.owner && {
            icon: 'trash',
            label: '删除会话',
            danger: true,
            act: () => void remove(),
          },
        ]}
      />
    </Sheet>
  );
};

const ChatPanels = ({
  session,
  thread,
  panel,
  newestFirst,
  onPanel,
  onSort,
  onShow,
}: {
  session: SessionDetail;
  thread: Thread;
  panel: Panel;
  newestFirst: boolean;
  onPanel: (panel: Panel) => void;
  onSort: () => void;
  onShow: (id: number, part?: 'human' | 'ai') => void;
}) => {
  const close = () => onPanel({ kind: 'none' });
  const target = panel.kind === 'menu' ? panel.target : null;
  const person = panel.kind === 'person' ? panel.person : null;

  return (
    <>
      <SessionSheet
        session={session}
        thread={thread}
        open={panel.kind === 'more'}
        newestFirst={newestFirst}
        onClose={close}
        onPanel={(kind) => onPanel({ kind })}
        onSort={onSort}
      />
      <Sheet popover="panel" open={panel.kind === 'settings'} onClose={close} title="会话设置">
        <ChatSettings
          session={session}
          first={thread.store.get().count === 0}
          onTool={() => {
            close();
            openImageTool({ key: session.uuid, model: session.model });
          }}
          onPublish={() => onPanel({ kind: 'publish' })}
        />
      </Sheet>
      {panel.kind === 'publish' && (
        <PublishSheet session={session} onClose={() => onPanel({ kind: 'settings' })} />
      )}
      <ExportSheet
        session={session}
        open={panel.kind === 'export'}
        onClose={close}
        {...(session.temporary ? { messages: thread.store.all() } : {})}
      />
      <Once when={panel.kind === 'find'}>
        <FindSheet
          thread={thread}
          temporary={session.temporary}
          open={panel.kind === 'find'}
          onClose={close}
          onChoose={onShow}
        />
      </Once>
      <Once when={panel.kind === 'source'}>
        <SourceSheet opened={panel.kind === 'source' ? panel.opened : null} onClose={close} />
      </Once>
      {panel.kind === 'report' && (
        <ReportSheet uuid={session.uuid} id={null} whole="对方" onClose={close} />
      )}
      <MessageMenu target={target} onClose={close} />
      <PersonSheet person={person} onClose={close} />
    </>
  );
};

export default ChatPanels;
