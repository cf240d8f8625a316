import { NoticePopup } from '#src/features/notice/notice-popup.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { useHasUnsent } from '#src/platform/unsent.ts';
import { useLineText } from '#src/platform/line-text.ts';
import { usePrefs } from '#src/platform/prefs.ts';
import { useMe } from '#src/platform/queries.ts';
import { runningJobs } from '#src/platform/running-jobs.ts';
import { useSite } from '#src/platform/site.ts';
import { useSpoken } from '#src/platform/speaking.ts';
import { useStore } from '#src/platform/store.ts';
import { DialogHost } from '#src/ui/dialog-host.tsx';
import { PasswordHost } from '#src/ui/password-host.tsx';
import { Icon, type IconName } from '#src/ui/icon.tsx';
import { LineBanner } from '#src/ui/line-banner.tsx';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu, wideEnoughForRecents } from '#src/platform/wide-enough.ts';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { ImageToolHost } from './image-tool-host.tsx';
import { type At, barPlaces, type Place } from './places.ts';
import { UnreadBadge, useUnread } from './unread-badge.tsx';

/** Phones have none; where there is one, src/app/boot.ts fetches it ahead. */
const ShellMenu = lazyPart(
  () => import('./shell-menu.tsx'),
  <nav className="shell-menu" aria-label="主菜单" />,
);
const RecentSessions = lazyPart(() => import('#src/features/session/recent-sessions.tsx'));
const SignInToSend = lazyPart(() => import('./sign-in-to-send.tsx'));
const LowBalance = lazyPart(() => import('./low-balance.tsx'));
const NewSignIn = lazyPart(() => import('./new-sign-in.tsx'));
const VipEnding = lazyPart(() => import('./vip-ending.tsx'));
const SiteNav = lazyPart(() => import('./site-nav.tsx'));
const PlayerBar = lazyPart(() => import('#src/widgets/voice/player-bar.tsx'));
const AskAgreements = lazyPart(() => import('./ask-agreements.tsx'));
const SiteFoot = lazyPart(() => import('./site-foot.tsx'));
const SetupCard = lazyPart(() => import('./setup-card.tsx'));
const JobChip = lazyPart(() => import('#src/features/job/job-chip.tsx'));

/** Screens that say at their end who runs this. */
const withFoot = new Set(['/', '/login', '/register', '/help']);

const BarLink = ({ place, at }: { place: Place<IconName>; at: At }) => (
  <Link {...place.link} className="bar-link" aria-current={place.isAt(at) ? 'page' : undefined}>
    <Icon name={place.icon} size={24} />
    <span>{place.label}</span>
    <UnreadBadge {...useUnread()(place)} />
  </Link>
);

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
  const inTalks = pathname === '/' || inChat;
  const inManager = /^\/(market\/)?manager/.test(pathname);
  // Managers have their own menu there.
  const managing = inManager && user?.admin;
  const at = { path: pathname, channel, tab: search.tab };
  const unsent = useHasUnsent();
  const running = useStore(runningJobs);
  const spoken = useSpoken();
  const { foot, agreements, ask_agreements: asks } = useSite();
  const hasFoot = agreements.length > 0 || Object.values(foot).some((text) => text !== '');
  return (
    <div className={`shell${inChat ? ' shell-chat' : ''}${inTalks ? ' shell-talks' : ''}`}>
      <a className="skip" href="#content">
        跳到内容
      </a>
      {menu && !managing && <ShellMenu at={at} fold={wide && inTalks} />}
      {wide && sidebar && inTalks && (
        <aside className="shell-recents" id="recents" aria-label="最近会话">
          <RecentSessions />
        </aside>
      )}
      <main className="shell-main" id="content" tabIndex={-1}>
        {menu && !inChat && <SiteNav />}
        {token === '' && unsent && <SignInToSend />}
        {!inChat && <LineNote />}
        {user?.owner && pathname === '/' && <SetupCard />}
        <Outlet />
        {withFoot.has(pathname) && hasFoot && (
          <SiteFoot foot={foot} agreements={agreements} visitor={user?.guest !== false} />
        )}
      </main>
      {!inChat && (
        <nav className="bottom-bar" aria-label="底部导航">
          {barPlaces.before.map((place) => (
            <BarLink key={place.label} place={place} at={at} />
          ))}
          <Link to="/" search={{ new: 1 }} className="bar-new" aria-label="新建会话">
            <Icon name="plus" size={24} />
          </Link>
          {barPlaces.after.map((place) => (
            <BarLink key={place.label} place={place} at={at} />
          ))}
        </nav>
      )}
      {running > 0 && !inChat && pathname !== '/tasks' && <JobChip />}
      {spoken && <PlayerBar key={spoken.historyId} spoken={spoken} />}
      {user?.balance_low === 1 && <LowBalance />}
      {user?.new_sign_in && <NewSignIn />}
      {user?.vip_ending === 1 && <VipEnding />}
      {!inManager && !/^\/(login|register|cashier)$/.test(pathname) && <NoticePopup />}
      {asks && user?.guest === false && !inManager && pathname !== '/help' && <AskAgreements />}
      <DialogHost />
      <PasswordHost />
      <ImageToolHost />
    </div>
  );
};
