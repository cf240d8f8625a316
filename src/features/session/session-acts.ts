import { writeDraft } from '@/shared/draft.ts';
import { act, laterText } from '@/shared/outbox.ts';
import { confirmDialog } from '@/shared/ui/dialog.ts';
import { toast } from '@/shared/ui/toast.ts';
import type { Session } from '@contract/session.ts';
import { sessionTitle } from './session-card.tsx';

const shorten = (title: string): string => (title.length > 30 ? `${title.slice(0, 30)}…` : title);

const toggleFavorite = async (session: Session) => {
  const marked = session.match?.history_id ?? undefined;
  const target = { session_id: session.uuid, history_id: marked };
  if (session.favorite) {
    const done = await act('removeFromFavorites', session.uuid, target);
    toast(done ? '已取消收藏' : `已取消收藏，${laterText}`);
  } else {
    const done = await act('addToFavorites', session.uuid, { session_id: session.uuid });
    toast(done ? '已收藏，在“收藏”里可以找到' : `已收藏，${laterText}`, 'success');
  }
};

const remove = async (session: Session) => {
  const sure = await confirmDialog({
    title: '删除会话',
    text: `“${shorten(sessionTitle(session))}”和其中的全部消息都会删除，不能恢复。`,
    ok: '删除',
    danger: true,
  });
  if (!sure) {
    toast('已取消删除');
    return;
  }
  const done = await act('deleteSession', session.uuid, { session_id: session.uuid });
  writeDraft(session.uuid, '');
  toast(done ? '会话已删除' : `会话已删除，${laterText}`, 'success');
};

/** What a card's menu and its swipe do. @throws ApiError, after having shown it */
export const actOn = (act: 'favorite' | 'remove', session: Session): Promise<void> =>
  act === 'favorite' ? toggleFavorite(session) : remove(session);
