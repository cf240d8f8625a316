import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { paletteAsked } from '#src/platform/command-key.ts';
import { prefsStore, usePrefs } from '#src/platform/prefs.ts';
import { useOfficialSite } from '#src/platform/queries.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Commands } from './commands.tsx';
import { groups, manage, others, type PlaceGroup, subscribe } from './menu-places.ts';
import { type PlaceIcon, placeIcons } from '#src/ui/place-icons.ts';
import { account, type At, type Place } from './places.ts';
import { type Unread, UnreadBadge, useUnread } from './unread-badge.tsx';

const Sign = ({ name }: { name: PlaceIcon }) => <PathIcon path={placeIcons[name]} />;

const PlaceLink = ({ place, at, unread }: { place: Place; at: At; unread?: Unread }) => (
  <Link
    {...place.link}
    className="menu-link"
    aria-current={place.isAt(at) ? 'page' : undefined}
    title={place.label}
  >
    <Sign name={place.icon} />
    <span>{place.label}</span>
    {unread && <UnreadBadge {...unread} />}
  </Link>
);

/** The places of an entry stand below it while one is among them. */
const Group = ({
  group: { label, icon, places },
  at,
  unreadAt,
}: {
  group: PlaceGroup;
  at: At;
  unreadAt: (place: Place) => Unread;
}) => {
  const inside = places.some((place) => place.isAt(at));
  const [first] = places;
  return (
    <>
      <Link
        {...first.link}
        className={inside && places.length > 1 ? 'menu-link menu-within' : 'menu-link'}
        aria-current={inside && places.length === 1 ? 'page' : undefined}
      >
        <Sign name={icon} />
        <span>{label}</span>
        <UnreadBadge {...unreadAt(first)} />
      </Link>
      {inside && places.length > 1 && (
        <ul className="menu-places">
          {places.map((place) => (
            <li key={place.label}>
              <PlaceLink place={place} at={at} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

/** All that is not asked for each day; what somebody pins stands in the menu itself. */
const Others = ({
  places,
  at,
  unreadAt,
}: {
  places: readonly Place[];
  at: At;
  unreadAt: (place: Place) => Unread;
}) => {
  const { pinned } = usePrefs();
  const site = useOfficialSite();
  const [opened, setOpened] = useState(false);
  const rest = places.filter(({ label }) => !pinned.includes(label));
  const inside = rest.some((place) => place.isAt(at));
  const unread = rest.reduce((sum, place) => sum + unreadAt(place).count, 0);
  const isOpen = opened || inside;
  const pin = (label: string) =>
    prefsStore.set({
      pinned: pinned.includes(label) ? pinned.filter((each) => each !== label) : [...pinned, label],
    });
  const row = (place: Place, isPinned: boolean) => (
    <li key={place.label} className="menu-pinnable">
      <PlaceLink place={place} at={at} unread={unreadAt(place)} />
      <button
        type="button"
        className="menu-pin"
        aria-pressed={isPinned}
        aria-label={`${isPinned ? '取消固定' : '固定'}${place.label}`}
        onClick={() => pin(place.label)}
      >
        <Icon name="pin" size={14} />
      </button>
    </li>
  );
  const kept = places.filter(({ label }) => pinned.includes(label));
  return (
    <>
      {kept.length > 0 && <ul className="menu-kept">{kept.map((place) => row(place, true))}</ul>}
      <button
        type="button"
        className="menu-link"
        aria-label="更多页面"
        aria-expanded={isOpen}
        disabled={inside}
        onClick={() => setOpened(!opened)}
      >
        <Sign name="grid" />
        <span>更多</span>
        {!isOpen && <UnreadBadge count={unread} what="公告" />}
      </button>
      {isOpen && (
        <ul className="menu-places">
          {rest.map((place) => row(place, false))}
          {site !== '' && (
            <li>
              <a className="menu-link" href={`${site}/support`} target="_blank" rel="noreferrer">
                <Icon name="outward" />
                <span>联系客服</span>
              </a>
            </li>
          )}
        </ul>
      )}
    </>
  );
};

/** Whose this is: the way to the account and, for managers, to the administration. */
const Foot = ({ at }: { at: At }) => {
  const { token, user } = useAuth();
  const isRegistered = token !== '' && user !== null && !user.guest;
  return (
    <div className="menu-foot">
      {user?.admin && <PlaceLink place={manage} at={at} />}
      <Link
        {...account.link}
        className="menu-link menu-person"
        aria-current={account.isAt(at) ? 'page' : undefined}
      >
        {isRegistered ? (
          <>
            <Avatar name={user.user_name} src={user.avatar} size={28} />
            <span>
              <b>{user.user_name}</b>
              <small className="tabular">
                <span className="sr-only">余额 </span>
                {compactNumber(user.chatgpt_balance + user.vip_balance)}
              </small>
            </span>
          </>
        ) : (
          <>
            <Sign name={account.icon} />
            <span>{account.label}</span>
          </>
        )}
      </Link>
    </div>
  );
};

/** The side menu of windows that are wide enough for it. */
export default function ShellMenu({ at, fold }: { at: At; fold: boolean }) {
  const { sidebar } = usePrefs();
  const site = useOfficialSite();
  const unreadAt = useUnread();
  return (
    <nav className="shell-menu" aria-label="主菜单">
      <Link to="/" className="brand">
        <img src="/icon.svg" alt="" width={26} height={26} loading="lazy" />
        鹊桥
      </Link>
      <button
        type="button"
        className="menu-find round"
        aria-label="搜索和命令"
        aria-keyshortcuts="Control+K"
        title="搜索和命令（Ctrl K）"
        onClick={() => dispatchEvent(new Event(paletteAsked))}
      >
        <Icon name="search" size={18} />
      </button>
      <Link to="/" search={{ new: 1 }} className="menu-new">
        <Icon name="plus" size={18} />
        新会话
      </Link>
      {groups.map((group) => (
        <Group key={group.label} group={group} at={at} unreadAt={unreadAt} />
      ))}
      <Others places={site === '' ? others : [...others, subscribe]} at={at} unreadAt={unreadAt} />
      {fold && (
        <button
          type="button"
          className="menu-link"
          aria-expanded={sidebar}
          aria-controls="recents"
          onClick={() => prefsStore.set({ sidebar: !sidebar })}
        >
          <Icon name="columns" />
          <span>{sidebar ? '收起会话' : '展开会话'}</span>
        </button>
      )}
      <Foot at={at} />
      <Commands />
    </nav>
  );
}
