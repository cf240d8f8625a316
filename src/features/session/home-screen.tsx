import { errorText } from '@/shared/api-error.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { Button } from '@/shared/ui/button.tsx';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { Skeleton } from '@/shared/ui/skeleton.tsx';
import { usePageTitle } from '@/shared/use-page-title.ts';
import type { Channel, Session } from '@contract/session.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Composer } from './composer.tsx';
import './home.css';
import { Pagination } from './pagination.tsx';
import { SessionCard } from './session-card.tsx';
import { SessionFilters, type FilterValues } from './session-filters.tsx';
import { SessionMenu } from './session-menu.tsx';
import { useSessionList } from './session-queries.ts';

const route = getRouteApi('/');

const titles: Partial<Record<Channel, string>> = { public: '公共频道', private: '我的会话' };

const LoadingCards = () => (
  <ul className="sessions" aria-label="正在加载" aria-busy="true">
    {[0, 1, 2, 3].map((each) => (
      <li key={each} className="session session-wait">
        <Skeleton lines={3} />
      </li>
    ))}
  </ul>
);

const NoSessions = ({ channel, filtered }: { channel: Channel; filtered: boolean }) => {
  const { token } = useAuth();
  if (filtered)
    return (
      <EmptyState
        icon="search"
        text="没有符合条件的会话，换个词或者去掉筛选试试。"
        action={
          <Link className="button" to="/" search={{ channel }}>
            去掉筛选
          </Link>
        }
      />
    );
  if (channel === 'public')
    return (
      <EmptyState
        icon="people"
        text="公共频道里还没有会话。在上面提一个问题，公开之后就会出现在这里。"
        action={
          <Link className="button" to="/" search={{ channel, new: 1 }}>
            提一个问题
          </Link>
        }
      />
    );
  return (
    <EmptyState
      icon="chat"
      text="还没有会话。在上面写下第一个问题，回答会保存在这里。"
      action={
        token === '' ? (
          <div className="row">
            <Link className="button" to="/login">
              登录后查看以前的会话
            </Link>
            <Link className="button" to="/" search={{ channel: 'public' }}>
              看看公共频道
            </Link>
          </div>
        ) : (
          <Link className="button" to="/" search={{ channel: 'public' }}>
            看看公共频道
          </Link>
        )
      }
    />
  );
};

/** Home: the new-session area and the list of the chosen channel. */
export const HomeScreen = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { token, user } = useAuth();
  const channel = search.channel ?? (token === '' ? 'public' : 'private');
  const page = search.page ?? 1;
  const { query, model, user_id, scenario_id } = search;
  const list = useSessionList({ channel, page, query, model, user_id, scenario_id });
  const [menu, setMenu] = useState<Session>();
  usePageTitle(titles[channel] ?? '');

  const filter = (change: FilterValues) =>
    void navigate({
      search: (old) => ({ ...old, ...change, channel, page: undefined, new: undefined }),
    });
  const filtered = [query, model, user_id, scenario_id].some((value) => value !== undefined);
  const sessions = list.data?.list ?? [];
  const noneAsked = channel === 'private' && token === '';

  return (
    <div className="page home">
      <header className="page-head home-head">
        <h1>{titles[channel]}</h1>
        {token === '' && (
          <Link className="button button-small" to="/login">
            登录
          </Link>
        )}
      </header>
      <Composer focus={search.new === 1} />
      <section aria-label={titles[channel]}>
        <nav className="tabs" aria-label="频道">
          {(['private', 'public'] as const).map((each) => (
            <Link
              key={each}
              to="/"
              search={{ channel: each }}
              resetScroll={false}
              className="tab"
              aria-current={each === channel ? 'page' : undefined}
            >
              {each === 'private' ? '我的' : '公共'}
            </Link>
          ))}
        </nav>
        {(filtered || sessions.length > 0) && (
          <SessionFilters
            values={{ query, model, user_id, scenario_id }}
            models={list.data?.models ?? []}
            onChange={filter}
          />
        )}
        {!noneAsked && list.isPending && <LoadingCards />}
        {list.isError && !list.data && (
          <EmptyState
            icon="offline"
            text={errorText(list.error)}
            action={
              <Button kind="primary" busy={list.isFetching} onClick={() => void list.refetch()}>
                重试
              </Button>
            }
          />
        )}
        {(noneAsked || (list.data && sessions.length === 0)) && (
          <NoSessions channel={channel} filtered={filtered} />
        )}
        {sessions.length > 0 && (
          <ul className="sessions">
            {sessions.map((session) => (
              <SessionCard
                key={session.id}
                session={session}
                own={session.user_id === user?.id}
                onMenu={setMenu}
              />
            ))}
          </ul>
        )}
        {list.data && (
          <Pagination
            page={page}
            count={list.data.page_count}
            onPage={(next) =>
              void navigate({ search: (old) => ({ ...old, channel, page: next, new: undefined }) })
            }
          />
        )}
      </section>
      <SessionMenu session={menu} onClose={() => setMenu(undefined)} />
    </div>
  );
};
