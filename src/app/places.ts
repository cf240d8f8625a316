import type { IconName } from '../ui/icon-paths.ts';
import type { LinkProps } from '@tanstack/react-router';

/** Where the menus lead. The first HTML draws them from here, too (vite.config.ts), so it is data alone. */
export interface Place {
  label: string;
  icon: IconName;
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

const place = (
  label: string,
  icon: IconName,
  to: LinkProps['to'],
  search?: LinkProps['search'],
  isAt: Place['isAt'] = ({ path }) => path === to,
): Place => ({ label, icon, link: { to, search }, isAt });

const isHome = (channel: string) => (at: At) =>
  at.path === '/' && at.tab !== 'imagine' && at.channel === channel;

const mine = place('我的会话', 'chat', '/', { channel: 'private' }, isHome('private'));
const open = place('公共频道', 'world', '/', { channel: 'public' }, isHome('public'));
const favorites = place('我的收藏', 'bookmark', '/', { channel: 'favorites' }, isHome('favorites'));
const draw = place(
  '画图',
  'brush',
  '/',
  { tab: 'imagine', new: 1 },
  ({ path, tab }) => path === '/' && tab === 'imagine',
);
const explore = place('图片广场', 'compass', '/image/explore');
const openImages = place('公共图片', 'people', '/image/public');
const ownImages = place('我的图片', 'image', '/image/private');
const video = place('视频', 'film', '/video');
export const forum = place('问答社区', 'talk', '/forum', undefined, ({ path }) =>
  path.startsWith('/forum'),
);
const models = place('模型', 'cube', '/model');
const scenarios = place('场景', 'cards', '/scenario');
const train = place('训练', 'book', '/train', undefined, ({ path }) => path.startsWith('/train'));
const translate = place('翻译', 'translate', '/translate');
const developer = place('API', 'code', '/api');
const apps = place('应用市场', 'bag', '/apps', undefined, ({ path }) => path.startsWith('/apps'));
const help = place('帮助', 'help', '/help');
export const notices = place('公告', 'bell', '/notice');

/** With an official site alone. */
export const subscribe = place('源码订阅', 'receipt', '/subscribe');
export const manage = place('管理', 'settings', '/manager/default', undefined, ({ path }) =>
  /^\/(market\/)?manager/.test(path),
);
export const account = place('账户', 'person', '/account', undefined, ({ path }) =>
  ['/account', '/login', '/register'].includes(path),
);

/** An entry of the side menu with what it holds; the first is where it leads. */
export interface PlaceGroup {
  label: string;
  icon: IconName;
  places: readonly [Place, ...Place[]];
}

export const groups: readonly PlaceGroup[] = [
  { label: '会话', icon: 'chat', places: [mine, open, favorites] },
  { label: '创作', icon: 'spark', places: [explore, draw, openImages, ownImages, video] },
  { label: '社区', icon: 'talk', places: [forum] },
  { label: '模型与场景', icon: 'cube', places: [models, scenarios] },
];

/** Behind 更多, where each can be pinned. */
export const others: readonly Place[] = [train, translate, developer, apps, help, notices];

/** The bottom bar of phones: two beside the button for something new on either side. */
export const barPlaces = {
  before: [
    { ...mine, label: '会话' },
    {
      ...explore,
      label: '创作',
      icon: 'spark',
      isAt: (at: At) => at.path.startsWith('/image/') || at.path === '/video' || draw.isAt(at),
    },
  ],
  after: [
    { ...forum, label: '社区' },
    { ...account, label: '我的' },
  ],
} as const;
