import { useAuth } from '#src/platform/auth-store.ts';
import { useUnreadNotices } from '#src/platform/queries.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { account, forum, notices, type Place } from './places.ts';

export interface Unread {
  count: number;
  what: '公告' | '消息';
}

export const UnreadBadge = ({ count, what }: Unread) =>
  count > 0 && (
    <i className="menu-unread tabular" aria-label={`${count} 条未读${what}`}>
      {count > 9 ? '9+' : count}
    </i>
  );

/** What waits to be read at a place; a phone's way to the notices is the account. */
export const useUnread = (): ((place: Place) => Unread) => {
  const { user } = useAuth();
  const { count } = useUnreadNotices();
  const isPhone = !useMedia(wideEnoughForMenu);
  const withNotices = isPhone ? account : notices;
  return ({ link }) =>
    link === forum.link
      ? { count: user?.news_unread ?? 0, what: '消息' }
      : { count: link === withNotices.link ? count : 0, what: '公告' };
};
