import type { PlaceIcon } from '#src/ui/place-icons.ts';
import { forum, isDrawing, isHome, mine, notices, place, type Place } from './places.ts';

/** An entry of the side menu with what it holds; the first is where it leads. */
export interface PlaceGroup {
  label: string;
  icon: PlaceIcon;
  places: readonly [Place, ...Place[]];
}

export const groups: readonly PlaceGroup[] = [
  {
    label: '会话',
    icon: 'chat',
    places: [
      mine,
      place('公共频道', 'world', '/', { channel: 'public' }, isHome('public')),
      place('我的收藏', 'bookmark', '/', { channel: 'favorites' }, isHome('favorites')),
    ],
  },
  {
    label: '创作',
    icon: 'spark',
    places: [
      place('发现', 'compass', '/image/explore', undefined, ({ path }) =>
        ['/image/explore', '/image/public'].includes(path),
      ),
      place('画图', 'brush', '/', { tab: 'imagine', new: 1 }, isDrawing),
      place('我的图片', 'image', '/image/private'),
      place('视频', 'film', '/video'),
    ],
  },
  { label: '社区', icon: 'talk', places: [forum] },
  {
    label: '模型与场景',
    icon: 'cube',
    places: [place('模型', 'cube', '/model'), place('场景', 'cards', '/scenario')],
  },
];

/** Behind 更多, where each can be pinned. */
export const others: readonly Place[] = [
  place('知识库', 'book', '/train', undefined, ({ path }) => path.startsWith('/train')),
  place('翻译', 'translate', '/translate'),
  place('API', 'code', '/api'),
  place('应用市场', 'bag', '/apps', undefined, ({ path }) => path.startsWith('/apps')),
  place('帮助', 'help', '/help'),
  notices,
];
/** With an official site alone. */
export const subscribe = place('源码订阅', 'receipt', '/subscribe');
export const manage = place('管理', 'settings', '/manager/default', undefined, ({ path }) =>
  /^\/(market\/)?manager/.test(path),
);
