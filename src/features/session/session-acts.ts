import { writeDraft } from '#src/platform/draft.ts';
import { act, laterText } from '#src/platform/outbox.ts';
import { confirmDelete } from '#src/ui/dialog.ts';
import { toast } from '#src/platform/toast.ts';
import type { Session } from '#contract/session.ts';
import { sessionTitle } from './session-title.ts';

const shorten = (title: string): string => (title.length > 30 ? `${title.slice(0, 30)}…` : title);

const toggleFavorite = async (session: Session, marked: number | undefined) => {
  const whole = session.favorite === true;
  if (whole || marked !== undefined) {
    // The star of one message in it is another than the session's own.
    const one = whole ? {} : { history_id: marked };
    const target = { session_id: session.uuid, ...one };
    const done = await act('removeFromFavorites', session.uuid, target);
    toast(done ? '已取消收藏' : `已取消收藏，${laterText}`);
  } else {
    const done = await act('addToFavorites', session.uuid, { session_id: session.uuid });
    toast(done ? '已收藏，在“收藏”里可以找到' : `已收藏，${laterText}`, 'success');
  }
};

const remove = async (session: Session) => {
  const sure = await confirmDelete({
    title: '删除会话',
    text: `“${shorten(sessionTitle(session))}”和其中的全部消息都会删除，不能恢复。`,
  });
  if (!sure) return;
  const done = await act('deleteSession', session.uuid, { session_id: session.uuid });
  writeDraft(session.uuid, '');
  toast(done ? '会话已删除' : `会话已删除，${laterText}`, 'success');
};

const change = async (
  session: Session,
  values: { title: string } | { on_top: 0 | 1 },
  text: string,
) => {
  const done = await act('setSession', session.uuid, { session_id: session.uuid, ...values });
  toast(done ? text : `${text}，${laterText}`, 'success');
};

export type SessionAct =
  | { name: 'favorite' | 'remove' }
  | { name: 'pin'; onTop: boolean }
  | { name: 'rename'; title: string };

/**
 * What a card's menu and its swipe do. @throws ApiError, after having shown it
 * @param marked the favourite message for which it stands in the list, where it is none itself
 */
export const actOn = (
  act: SessionAct,
  session: Session,
  marked: number | undefined,
): Promise<void> => {
  switch (act.name) {
    case 'favorite':
      return toggleFavorite(session, marked);
    case 'remove':
      return remove(session);
    case 'pin':
      return change(session, { on_top: act.onTop ? 1 : 0 }, act.onTop ? '已置顶' : '已取消置顶');
    default:
      return change(session, { title: act.title }, '修改成功');
  }
};
