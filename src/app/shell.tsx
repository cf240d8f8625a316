import { NoticePopup } from '@/features/notice/notice-popup.tsx';
import { useAuth } from '@/platform/auth-store.ts';
import { hasUnsent } from '@/platform/unsent.ts';
import { useLineText } from '@/platform/line-text.ts';
import { prefsStore, usePrefs } from '@/platform/prefs.ts';
import { useMe, useOfficialSite, useUnreadNotices } from '@/platform/queries.ts';
import { runningJobs } from '@/platform/running-jobs.ts';
import { useSpoken } from '@/platform/speaking.ts';
import { useStore } from '@/platform/store.ts';
import { DialogHost } from '@/ui/dialog-host.tsx';
import { PasswordHost } from '@/ui/password-host.tsx';
import { Icon, type IconName } from '@/ui/icon.tsx';
import { LineBanner } from '@/ui/line-banner.tsx';
import { useMedia, wideEnoughForMenu, wideEnoughForRecents } from '@/platform/use-media.ts';
import { Link, Outlet, useLocation, type LinkProps } from '@tanstack/react-router';
import { lazyPart } from '@/platform/lazy-chunk.ts';
import { Suspense } from 'react';
import { ImageToolHost } from './image-tool-host.tsx';

const RecentSessions = lazyPart(() => import('@/features/session/recent-sessions.tsx'));
const SignInToSend = lazyPart(() => import('./sign-in-to-send.tsx'));
const LowBalance = lazyPart(() => import('./low-balance.tsx'));
const VipEnding = lazyPart(() => import('./vip-ending.tsx'));
const SiteNav = lazyPart(() => import('./site-nav.tsx'));
const PlayerBar = lazyPart(() => import('@/widgets/voice/player-bar.tsx'));
const JobChip = lazyPart(() => import('@/features/job/job-chip.tsx'));

interface Place {
  label: string;
  /** In the bottom bar, where there is room for two characters. */
  short: string;
  icon: IconName;
  link: Pick<LinkProps, 'to' | 'search'>;
  active: (path: string, channel: string, tab: string | undefined) => boolean;
}

const mine: Place = {
  label: '我的会话',
  short: '会话',
  icon: 'chat',
  link: { to: '/', search: { channel: 'private' } },
  active: (path, channel, tab) => path === '/' && channel === 'private' && tab !== 'imagine',
};
const open: Place = {
  label: '公共频道',
  short: '公共',
  icon: 'people',
  link: { to: '/', search: { channel: 'public' } },
  active: (path, channel) => path === '/' && channel === 'public',
};
const favorites: Place = {
  label: '我的收藏',
  short: '收藏',
  icon: 'star',
  link: { to: '/', search: { channel: 'favorites' } },
  active: (path, channel) => path === '/' && channel === 'favorites',
};
const imagine: Place = {
  label: '画图',
  short: '画图',
  icon: 'spark',
  link: { to: '/', search: { tab: 'imagine', new: 1 } },
  active: (path, _channel, tab) => path === '/' && tab === 'imagine',
};
const create: Place = {
  label: '创作',
  short: '创作',
  icon: 'spark',
  link: { to: '/image/explore' },
  active: (path, _channel, tab) =>
    path.startsWith('/image/') || path === '/video' || (path === '/' && tab === 'imagine'),
};
const explore: Place = {
  label: '图片广场',
  short: '广场',
  icon: 'columns',
  link: { to: '/image/explore' },
  active: (path) => path === '/image/explore',
};
const openImages: Place = {
  label: '公共图片',
  short: '图片',
  icon: 'people',
  link: { to: '/image/public' },
  active: (path) => path === '/image/public',
};
const ownImages: Place = {
  label: '我的图片',
  short: '图片',
  icon: 'document',
  link: { to: '/image/private' },
  active: (path) => path === '/image/private',
};
const video: Place = {
  label: '视频',
  short: '视频',
  icon: 'film',
  link: { to: '/video' },
  active: (path) => path === '/video',
};
const developer: Place = {
  label: 'API',
  short: 'API',
  icon: 'code',
  link: { to: '/api' },
  active: (path) => path === '/api',
};
const forum: Place = {
  label: '问答社区',
  short: '社区',
  icon: 'help',
  link: { to: '/forum' },
  active: (path) => path.startsWith('/forum'),
};
const scenarios: Place = {
  label: '场景',
  short: '场景',
  icon: 'document',
  link: { to: '/scenario' },
  active: (path) => path === '/scenario',
};
const models: Place = {
  label: '模型',
  short: '模型',
  icon: 'columns',
  link: { to: '/model' },
  active: (path) => path === '/model',
};
const train: Place = {
  label: '训练',
  short: '训练',
  icon: 'document',
  link: { to: '/train' },
  active: (path) => path === '/train' || path === '/train/passage',
};
const translate: Place = {
  label: '翻译',
  short: '翻译',
  icon: 'sort',
  link: { to: '/translate' },
  active: (path) => path === '/translate',
};
const apps: Place = {
  label: '应用市场',
  short: '应用',
  icon: 'star',
  link: { to: '/apps' },
  active: (path) => path.startsWith('/apps'),
};
const help: Place = {
  label: '帮助',
  short: '帮助',
  icon: 'help',
  link: { to: '/help' },
  active: (path) => path === '/help',
};
const manage: Place = {
  label: '管理',
  short: '管理',
  icon: 'settings',
  link: { to: '/manager/default' },
  active: (path) => /^\/(market\/)?manager/.test(path),
};
const notices: Place = {
  label: '公告',
  short: '公告',
  icon: 'pin',
  link: { to: '/notice' },
  active: (path) => path === '/notice',
};
/** With an official site alone. */
const subscribe: Place = {
  label: '源码订阅',
  short: '订阅',
  icon: 'code',
  link: { to: '/subscribe' },
  active: (path) => path === '/subscribe',
};
const account: Place = {
  label: '账户',
  short: '我的',
  icon: 'person',
  link: { to: '/account' },
  active: (path) => path === '/account' || path === '/login' || path === '/register',
};

interface At {
  path: string;
  channel: string;
  tab: string | undefined;
}

const Unread = ({ count, what }: { count: number; what: string }) =>
  count > 0 && (
    <i className="menu-unread tabular" aria-label={`${count} 条未读${what}`}>
      {count > 9 ? '9+' : count}
    </i>
  );

const MenuLink = ({
  place,
  unread = 0,
  what = '公告',
  path,
  channel,
  tab,
}: { place: Place; unread?: number; what?: string } & At) => {
  const active = place.active(path, channel, tab);
  return (
    <Link {...place.link} className="menu-link" aria-current={active ? 'page' : undefined}>
      <Icon name={place.icon} />
      <span>{place.label}</span>
      <Unread count={unread} what={what} />
    </Link>
  );
};

const BarLink = ({
  place,
  unread = 0,
  what = '公告',
  path,
  channel,
  tab,
}: { place: Place; unread?: number; what?: string } & At) => {
  const active = place.active(path, channel, tab);
  return (
    <Link {...place.link} className="bar-link" aria-current={active ? 'page' : undefined}>
      <Icon name={place.icon} size={24} />
      <span>{place.short}</span>
      <Unread count={unread} what={what} />
    </Link>
  );
};

/** One quiet line while the network does not answer; a conversation says more of it itself. */
const LineNote = () => {
  const text = useLineText();
  if (text === '') return null;
  return <LineBanner className="shell-line" text={text} />;
};

/** Everything around a screen: menu, recent sessions and content on wide windows, a bottom bar on phones. */
export const Shell = () => {
  const { pathname, search } = useLocation();
  const { token, user } = useAuth();
  const { sidebar } = usePrefs();
  const wide = useMedia(wideEnoughForRecents);
  const menu = useMedia(wideEnoughForMenu);
  useMe();
  const channel = search.channel ?? (token === '' ? 'public' : 'private');
  const inChat = pathname === '/chat';
  const inManager = /^\/(market\/)?manager/.test(pathname);
  const at = { path: pathname, channel, tab: search.tab };
  const running = useStore(runningJobs);
  const spoken = useSpoken();
  const site = useOfficialSite();
  const unread = useUnreadNotices().count;
  const news = user?.news_unread ?? 0;
  return (
    <div className={inChat ? 'shell shell-chat' : inManager ? 'shell shell-manager' : 'shell'}>
      <a className="skip" href="#content">
        跳到内容
      </a>
      <nav className="shell-menu" aria-label="主菜单">
        <Link to="/" className="brand">
          <img src="/icon.svg" alt="" width={26} height={26} loading="lazy" />
          鹊桥
        </Link>
        <Link to="/" search={{ new: 1 }} className="menu-new">
          <Icon name="plus" size={18} />
          新会话
        </Link>
        <MenuLink place={imagine} {...at} />
        <MenuLink place={video} {...at} />
        <MenuLink place={explore} {...at} />
        <MenuLink place={openImages} {...at} />
        <MenuLink place={ownImages} {...at} />
        <hr />
        <MenuLink place={mine} {...at} />
        <MenuLink place={open} {...at} />
        <MenuLink place={favorites} {...at} />
        <MenuLink place={forum} unread={news} what="消息" {...at} />
        <MenuLink place={scenarios} {...at} />
        <MenuLink place={models} {...at} />
        <hr />
        <MenuLink place={train} {...at} />
        <MenuLink place={translate} {...at} />
        <MenuLink place={developer} {...at} />
        <MenuLink place={apps} {...at} />
        <MenuLink place={help} {...at} />
        <MenuLink place={notices} unread={unread} {...at} />
        {site !== '' && <MenuLink place={subscribe} {...at} />}
        {site !== '' && (
          <a className="menu-link" href={`${site}/support`} target="_blank" rel="noreferrer">
            <Icon name="outward" />
            <span>联系客服</span>
          </a>
        )}
        <MenuLink place={account} {...at} />
        {user?.admin && <MenuLink place={manage} {...at} />}
        {wide && !inManager && (
          <button
            type="button"
            className="menu-link menu-fold"
            aria-expanded={sidebar}
            aria-controls="recents"
            onClick={() => prefsStore.set({ sidebar: !sidebar })}
          >
            <Icon name="columns" />
            <span>{sidebar ? '收起会话' : '展开会话'}</span>
          </button>
        )}
      </nav>
      {wide && sidebar && !inManager && (
        <aside className="shell-recents" id="recents" aria-label="最近会话">
          <Suspense fallback={null}>
            <RecentSessions />
          </Suspense>
        </aside>
      )}
      <main className="shell-main" id="content" tabIndex={-1}>
        {menu && !inChat && (
          <Suspense fallback={null}>
            <SiteNav />
          </Suspense>
        )}
        {token === '' && hasUnsent() && (
          <Suspense fallback={null}>
            <SignInToSend />
          </Suspense>
        )}
        {!inChat && <LineNote />}
        <Outlet />
      </main>
      {!inChat && (
        <nav className="bottom-bar" aria-label="底部导航">
          <BarLink place={mine} {...at} />
          <BarLink place={create} {...at} />
          <Link to="/" search={{ new: 1 }} className="bar-new" aria-label="新建会话">
            <Icon name="plus" size={24} />
          </Link>
          <BarLink place={forum} unread={news} what="消息" {...at} />
          <BarLink place={account} unread={unread} {...at} />
        </nav>
      )}
      {running > 0 && !inChat && pathname !== '/tasks' && (
        <Suspense fallback={null}>
          <JobChip />
        </Suspense>
      )}
      {spoken && (
        <Suspense fallback={null}>
          <PlayerBar key={spoken.historyId} spoken={spoken} />
        </Suspense>
      )}
      {user?.balance_low === 1 && (
        <Suspense fallback={null}>
          <LowBalance />
        </Suspense>
      )}
      {user?.vip_ending === 1 && (
        <Suspense fallback={null}>
          <VipEnding />
        </Suspense>
      )}
      {!inManager && !/^\/(login|register|cashier)$/.test(pathname) && <NoticePopup />}
      <DialogHost />
      <PasswordHost />
      <ImageToolHost />
    </div>
  );
};
