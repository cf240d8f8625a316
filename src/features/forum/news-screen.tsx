import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { BackHead } from '#src/ui/back-head.tsx';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { PagedList } from '#src/ui/paged-list.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { getRouteApi, Link } from '@tanstack/react-router';
import css from './forum.module.css';
import { useNews } from './forum-queries.ts';

const route = getRouteApi('/forum/news');

/** What happened to what one wrote: answers, mentions, an accepted answer. */
export const NewsScreen = () => {
  usePageTitle('消息');
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { signedIn } = useAuth();
  const news = useNews(page);
  const readAll = async () => {
    await api.readNews({});
    await queryClient.invalidateQueries({ queryKey: ['newsList'] });
  };
  return (
    <div className="page">
      <BackHead to="/forum" back="返回社区" title="消息">
        {(news.data?.unread ?? 0) > 0 && (
          <Button size="small" onClick={() => void readAll().catch(() => undefined)}>
            全部已读
          </Button>
        )}
      </BackHead>
      {!signedIn && (
        <EmptyState
          icon="person"
          text="登录之后，别人回答、提到您时会在这里告诉您"
          action={
            <ButtonLink kind="primary" to="/login" search={{ back: '/forum/news' }}>
              登录
            </ButtonLink>
          }
        />
      )}
      {signedIn && (
        <PagedList
          query={news}
          waiting={<Skeleton lines={8} />}
          empty={
            <EmptyPlace
              drawing="magpies"
              text="还没有消息。有人回答、提到您时会在这里告诉您。"
              action={
                <ButtonLink kind="primary" to="/forum">
                  去看看问题
                </ButtonLink>
              }
              example={{
                label: '怎样提问有人答',
                onTry: () => void navigate({ to: '/help', search: { page: 'forum' } }),
              }}
            />
          }
          page={page}
          onPage={(next, replace) => void navigate({ search: { page: next }, replace })}
        >
          {(items) => (
            <ul className={css.list} aria-label="消息">
              {items.map((item) => (
                <li key={item.id} className={css.question} data-unread={!item.read || undefined}>
                  <Avatar name={item.actor_name} src={item.avatar} size={40} />
                  <div className={css.words}>
                    <h3>
                      {!item.read && <span className={css.unread}>未读</span>}
                      <Link
                        to="/chat"
                        search={{ uuid: item.uuid, history_id: item.history_id ?? undefined }}
                        className={css.link}
                      >
                        {item.text}
                      </Link>
                    </h3>
                    <p className={css.excerpt}>{item.excerpt || item.title}</p>
                    <p className={css.facts}>
                      <span className={css.about}>{item.title}</span>
                      <time className={css.end} dateTime={item.created_at}>
                        {relativeTime(item.created_at)}
                      </time>
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          )}
        </PagedList>
      )}
    </div>
  );
};
