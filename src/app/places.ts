import type { IconName } from '../ui/icon-paths.ts';
import type { PlaceIcon } from '#src/ui/place-icons.ts';
import type { LinkProps } from '@tanstack/react-router';

/** Where a menu leads. Data alone: the first HTML draws the side menu from it, too (scripts/first-menu.ts). */
export interface Place<I extends PlaceIcon = PlaceIcon> {
  label: string;
  icon: I;
  link: Pick<LinkProps, 'to' | 'search'>;
  isAt: (at: At) => boolean;
}

export interface At {
  path: string;
  /** Of home's list. */
  channel: string;
  /** Of home's box. */
  tab: string | undefined;
}

export const place = <I extends PlaceIcon>(
  label: string,
  icon: I,
  to: LinkProps['to'],
  search?: LinkProps['search'],
  isAt: Place['isAt'] = ({ path }) => path === to,
): Place<I> => ({ label, icon, link: { to, search }, isAt });

export const isHome = (channel: string) => (at: At) =>
  at.path === '/' && at.tab !== 'imagine' && at.channel === channel;
export const isDrawing = ({ path, tab }: At): boolean => path === '/' && tab === 'imagine';

export const mine = place('我的会话', 'chat', '/', { channel: 'private' }, isHome('private'));
export const forum = place('问答社区', 'talk', '/forum', undefined, ({ path }) =>
  path.startsWith('/forum'),
);
export const notices = place('公告', 'bell', '/notice');
export const account = place('账户', 'person', '/account', undefined, ({ path }) =>
  ['/account', '/login', '/register'].includes(path),
);

/** The bottom bar of phones: two on either side of the button for something new. */
export const barPlaces: Record<'before' | 'after', readonly Place<IconName>[]> = {
  before: [
    { ...mine, label: '会话' },
    place(
      '创作',
      'spark',
      '/image/explore',
      undefined,
      (at) => at.path.startsWith('/image/') || at.path === '/video' || isDrawing(at),
    ),
  ],
  after: [
    { ...forum, label: '社区' },
    { ...account, label: '我的' },
  ],
};
