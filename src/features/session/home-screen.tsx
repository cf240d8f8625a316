import { ButtonLink } from '#src/ui/button.tsx';
import { ignoreApiError } from '#src/platform/attempt.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { maskName } from '#src/platform/format.ts';
import { endFirstView } from '#src/platform/first-view.ts';
import { outboxState } from '#src/platform/outbox-state.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { useStore } from '#src/platform/store.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { usePrefs } from '#src/platform/prefs.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu, wideEnoughForRecents } from '#src/platform/wide-enough.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import type { Channel, Session } from '#contract/session.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazyAsked, lazyPart } from '#src/platform/lazy-chunk.ts';
import { Fragment, useLayoutEffect, useRef, useState } from 'react';
import { Composer } from './composer.tsx';
import { HomeSearch } from './home-search.tsx';
import { Leading } from './leading.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import type { SessionAct } from './session-acts.ts';
import { headingAt } from './time-groups.ts';
import { markedIn, SessionCard } from './session-card.tsx';
import { SessionFilters } from './session-filters.tsx';
import { useScenarioName, useSessionList } from './session-queries.ts';
import { useGestures } from './use-gestures.ts';
import css from './home.module.css';

const SessionMenu = lazyAsked(() => import('./session-menu.tsx'));
const NoSessions = lazyPart(() => import('./no-sessions.tsx'));

const route = getRouteApi('/');

const titles: Record<Channel, string> = {
  public: '公共频道',
  private: '我的会话',
  favorites: '我的收藏',
};
const tabs: readonly (readonly [channel: Channel, text: string])[] = [
  ['private', '我的'],
  ['public', '公共'],
  ['favorites', '收藏'],
];

const LoadingCards = () => (
  <ul className={css.sessions} aria-label="正在加载" aria-busy="true">
    {[0, 1, 2, 3].map((each) => (
      <li key={each} className={`${css.session} ${css.sessionWait}`}>
        <Skeleton lines={3} />
      </li>
    ))}
  </ul>
);

const act = async (what: SessionAct, session: Session, marked: number | undefined) => {
  const { actOn } = await import('./session-acts.ts');
  // The call has shown its own failure.
  await actOn(what, session, marked).catch(ignoreApiError);
};

/** Whether the field of the search is open; whoever asks for a new session has left it. */
const useSearching = ({ query, new: asked }: ReturnType<typeof route.useSearch>) => {
  const state = useState(query !== undefined);
  const [known, setKnown] = useState(asked);
  if (known !== asked) {
    setKnown(asked);
    if (asked === 1) state[1](false);
  }
  return state;
};

/** The sessions of a page, in one's own channel under the days of their last messages. */
const Sessions = ({
  sessions,
  channel,
  words,
  swiped,
  onSwipe,
  onMenu,
}: {
  sessions: readonly Session[];
  channel: Channel;
  /** That were searched for. */
  words: string | undefined;
  /** The one that was swept aside; empty: none. */
  swiped: string;
  onSwipe: (uuid: string) => void;
  /** Absent: nothing can be done with them here. */
  onMenu: ((session: Session) => void) | undefined;
}) => {
  const { user } = useAuth();
  const wide = useMedia(wideEnoughForMenu);
  return (
    <ul className={css.sessions} data-sessions>
      {sessions.map((session, at) => {
        const heading = channel === 'private' && !words ? headingAt(sessions, at) : null;
        return (
          <Fragment key={session.id}>
            {heading !== null && (
              <li className={css.sessionGroup}>
                <h2>{heading}</h2>
              </li>
            )}
            <SessionCard
              session={session}
              channel={channel}
              words={words}
              own={session.user_id === user?.id}
              wide={wide}
              swiped={session.uuid === swiped}
              onMenu={onMenu}
              onAct={(what, target) => {
                onSwipe('');
                void act(what, target, markedIn(target, channel, words));
              }}
            />
          </Fragment>
        );
      })}
    </ul>
  );
};

const Channels = ({ here }: { here: Channel | null }) => (
  <nav className={`strip ${css.tabs}`} aria-label="频道">
    {tabs.map(([each, text]) => (
      <Link
        key={each}
        to="/"
        search={{ channel: each }}
        resetScroll={false}
        aria-current={each === here ? 'page' : undefined}
      >
        {text}
      </Link>
    ))}
  </nav>
);

/** What can be done with one of the sessions; it loads when first opened. */
const Menu = ({
  session,
  channel,
  words,
  onClose,
}: {
  session: Session | undefined;
  channel: Channel;
  words: string | undefined;
  onClose: () => void;
}) => {
  const { user } = useAuth();
  const marked = (target: Session) => markedIn(target, channel, words);
  if (!useEver(session !== undefined)) return null;
  return (
    <SessionMenu
      session={session}
      own={session?.user_id === user?.id}
      starred={
        session?.favorite === true || (session !== undefined && marked(session) !== undefined)
      }
      onAct={(what, target) => void act(what, target, marked(target))}
      onClose={onClose}
    />
  );
};

/** Home: the new-session area and the list of the chosen channel. */
export const HomeScreen = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { token, user } = useAuth();
  const { query, model, user_id, scenario_id } = search;
  // Of another author there is only what is public.
  const inPublic = token === '' || (user_id !== undefined && user_id !== user?.id);
  const channel = search.channel ?? (inPublic ? 'public' : 'private');
  const page = search.page ?? 1;
  const list = useSessionList({ channel, page, query, model, user_id, scenario_id });
  const [searching, setSearching] = useSearching(search);
  const [menu, setMenu] = useState<Session>();
  const [swiped, setSwiped] = useState('');
  const [leading, setLeading] = useState<string | null>(null);
  const screen = useRef<HTMLDivElement>(null);
  const wide = useMedia(wideEnoughForMenu);
  const { sidebar } = usePrefs();
  const withRecents = useMedia(wideEnoughForRecents) && sidebar;
  const noneAsked = channel !== 'public' && token === '';
  const unsent = useStore(outboxState).acts.filter(({ name }) => name === 'sendMessage').length;
  const scenario = useScenarioName(scenario_id);
  usePageTitle(titles[channel]);
  const listed = !list.isPending || noneAsked;
  useLayoutEffect(() => (listed ? endFirstView() : undefined), [listed]);
  useGestures(screen, { onSwipe: setSwiped, onRefresh: refreshScreens });

  const filter = (change: Partial<typeof search>) =>
    void navigate({
      search: (old) => ({ ...old, ...change, channel, page: undefined, new: undefined }),
      // One step back leaves the search, not each of its letters.
      replace: 'query' in change && query !== undefined,
      resetScroll: false,
    });
  const filtered = [query, model, user_id, scenario_id].some((value) => value !== undefined);
  const sessions = list.data?.list ?? [];
  const newcomer = channel === 'private' && !filtered && list.data?.total === 0;
  // The same sessions stand in the column beside it: who did not ask for their list is asked alone.
  const beside =
    withRecents && token !== '' && search.channel === undefined && !filtered && page === 1;
  const author = sessions.find((session) => session.user_id === user_id)?.user_name ?? '';

  const shown = leading === null ? (beside ? css.homeAsking : '') : css.homeAway;
  return (
    <>
      {leading !== null && <Leading words={leading} onBack={() => setLeading(null)} />}
      <div className={`page ${shown}`} ref={screen}>
        <header className={`page-head ${css.homeHead}`}>
          <h1>{titles[channel]}</h1>
          {!beside && (
            <HomeSearch
              title={titles[channel]}
              query={query}
              open={searching}
              onOpen={setSearching}
              onQuery={(words) => filter({ query: words })}
            />
          )}
          {token === '' && (
            <ButtonLink size="small" to="/login">
              登录
            </ButtonLink>
          )}
        </header>
        <Composer
          focus={search.new === 1}
          handy={search.channel === undefined}
          tab={search.tab ?? 'chat'}
          ideas={wide || token === '' || newcomer}
          folded={(searching && !wide) || query !== undefined}
          onLead={setLeading}
        />
        <section aria-label={titles[channel]} className={beside ? css.homeBeside : undefined}>
          <div className={css.listHead}>
            <Channels here={beside ? null : channel} />
            {!beside && (filtered || sessions.length > 0) && (
              <SessionFilters
                values={{ model, user_id, scenario_id }}
                models={list.data?.models ?? []}
                author={maskName(author)}
                scenario={scenario}
                onChange={filter}
              />
            )}
          </div>
          {unsent > 0 && (
            <p className={css.homeOffline} role="status">
              {unsent} 条等待发送
            </p>
          )}
          {!beside && !noneAsked && list.isPending && <LoadingCards />}
          {list.isError && !list.data && <QueryFailed query={list} />}
          {!beside && (noneAsked || (list.data && sessions.length === 0)) && (
            <NoSessions channel={channel} filtered={filtered} visitor={token === ''} />
          )}
          {!beside && sessions.length > 0 && (
            <Sessions
              sessions={sessions}
              channel={channel}
              words={query}
              swiped={swiped}
              onSwipe={setSwiped}
              onMenu={token === '' ? undefined : setMenu}
            />
          )}
          {!beside && list.data && (
            <Pager
              page={page}
              count={list.data.page_count}
              isCounted={!list.isPlaceholderData}
              onPage={(next, replace) =>
                void navigate({
                  search: (old) => ({ ...old, channel, page: next, new: undefined }),
                  replace,
                })
              }
            />
          )}
        </section>
        <Menu session={menu} channel={channel} words={query} onClose={() => setMenu(undefined)} />
      </div>
    </>
  );
};
