import { NoticePopup } from '@/features/notice/notice-popup.tsx';
import { useAuth } from '@/shared/auth-store.ts';
import { hasUnsent } from '@/shared/pending.ts';
import { prefsStore, usePrefs } from '@/shared/prefs.ts';
import { useMe } from '@/shared/queries.ts';
import { runningJobs } from '@/shared/running-jobs.ts';
import { useStore } from '@/shared/store.ts';
import { DialogHost } from '@/shared/ui/dialog-host.tsx';
import { Icon, type IconName } from '@/shared/ui/icon.tsx';
import { useMedia, wideEnoughForMenu, wideEnoughForRecents } from '@/shared/use-media.ts';
import { Link, Outlet, useLocation, type LinkProps } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { ImageToolHost } from './image-tool-host.tsx';

const RecentSessions = lazy(() => import('@/features/session/recent-sessions.tsx'));
const SignInToSend = lazy(() => import('./sign-in-to-send.tsx'));
const SiteNav = lazy(() => import('./site-nav.tsx'));
const JobChip = lazy(() => import('@/features/job/job-chip.tsx'));

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
const help: Place = {
  label: '帮助',
  short: '帮助',
  icon: 'help',
  link: { to: '/help' },
  active: (path) => path === '/help',
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

const MenuLink = ({ place, path, channel, tab }: { place: Place } & At) => {
  const active = place.active(path, channel, tab);
  return (
    <Link {...place.link} className="menu-link" aria-current={active ? 'page' : undefined}>
      <Icon name={place.icon} />
      <span>{place.label}</span>
    </Link>
  );
};

const BarLink = ({ place, path, channel, tab }: { place: Place } & At) => {
  const active = place.active(path, channel, tab);
  return (
    <Link {...place.link} className="bar-link" aria-current={active ? 'page' : undefined}>
      <Icon name={place.icon} size={24} />
      <span>{place.short}</span>
    </Link>
  );
};

/** Everything around a screen: menu, recent sessions and content on wide windows, a bottom bar on phones. */
export const Shell = () => {
  const { pathname, search } = useLocation();
  const { token } = useAuth();
  const { sidebar } = usePrefs();
  const wide = useMedia(wideEnoughForRecents);
  const menu = useMedia(wideEnoughForMenu);
  useMe();
  const channel = search.channel ?? (token === '' ? 'public' : 'private');
  const inChat = pathname === '/chat';
  const at = { path: pathname, channel, tab: search.tab };
  const running = useStore(runningJobs);
  return (
    <div className={inChat ? 'shell shell-chat' : 'shell'}>
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
        <MenuLink place={mine} {...at} />
        <MenuLink place={open} {...at} />
        <MenuLink place={favorites} {...at} />
        <hr />
        <MenuLink place={help} {...at} />
        <MenuLink place={account} {...at} />
        {wide && (
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
      {wide && sidebar && (
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
        <Outlet />
      </main>
      {!inChat && (
        <nav className="bottom-bar" aria-label="底部导航">
          <BarLink place={mine} {...at} />
          <BarLink place={imagine} {...at} />
          <Link to="/" search={{ new: 1 }} className="bar-new" aria-label="新建会话">
            <Icon name="plus" size={24} />
          </Link>
          <BarLink place={open} {...at} />
          <BarLink place={account} {...at} />
        </nav>
      )}
      {running > 0 && !inChat && pathname !== '/tasks' && (
        <Suspense fallback={null}>
          <JobChip />
        </Suspense>
      )}
      <NoticePopup />
      <DialogHost />
      <ImageToolHost />
    </div>
  );
};
