import { api } from '@/shared/api.ts';
import { ApiError, errorText } from '@/shared/api-error.ts';
import { Exchange } from '@/shared/export/conversation.tsx';
import { dateTime } from '@/shared/format.ts';
import { Button } from '@/shared/ui/button.tsx';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { Skeleton } from '@/shared/ui/skeleton.tsx';
import { usePageTitle } from '@/shared/use-page-title.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import './share.css';

const route = getRouteApi('/share');

/** Calls `act` when its element comes near the window. */
const useNear = (act: () => void) => {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  return (element: HTMLElement | null) => {
    if (!element) return undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) latest.current();
      },
      { rootMargin: '600px' },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  };
};

const home = (
  <Link className="button button-primary" to="/" search={{ new: 1 }}>
    用鹊桥继续聊
  </Link>
);

/** What somebody shared by a link: to be read, by anybody. */
export const ShareScreen = () => {
  const { key = '' } = route.useSearch();
  const shared = useInfiniteQuery({
    queryKey: ['sharedSession', key],
    queryFn: ({ pageParam, signal }) =>
      api.sharedSession({ key, page: pageParam }, { signal, quiet: true }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page < last.page_count ? last.page + 1 : undefined),
    enabled: key !== '',
    staleTime: 5 * 60_000,
    meta: { steady: true },
  });
  const [first] = shared.data?.pages ?? [];
  const title = first?.title || '分享的对话';
  usePageTitle(title);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = shared;
  const near = useNear(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  });

  const gone =
    key === '' ||
    (shared.isError &&
      shared.error instanceof ApiError &&
      [404, 422].includes(shared.error.status));
  if (gone)
    return (
      <div className="page page-centre">
        <h1 className="sr-only">链接不存在</h1>
        <EmptyState icon="link" text="这个链接不存在，或者已被收回。" action={home} />
      </div>
    );
  if (!first)
    return (
      <div className="page shared">
        {shared.isError ? (
          <EmptyState
            icon="warning"
            text={errorText(shared.error)}
            action={
              <Button kind="primary" onClick={() => void shared.refetch()}>
                重试
              </Button>
            }
          />
        ) : (
          <div className="card">
            <Skeleton lines={8} />
          </div>
        )}
      </div>
    );
  return (
    <article className="page shared">
      <header className="shared-head">
        <h1>{title}</h1>
        <p>
          {first.user_name} 分享于 {dateTime(first.created_at)} · 共 {first.total} 条消息
        </p>
      </header>
      <div className="shared-talk" role="log" aria-label="分享的对话">
        {shared.data?.pages.flatMap((page) =>
          page.list.map((message) => <Exchange key={message.id} message={message} />),
        )}
      </div>
      {hasNextPage && (
        <div className="shared-more" ref={near} key={shared.data?.pages.length}>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchNextPageError ? '没有读到，重试' : '继续往下看'}
          </Button>
        </div>
      )}
      <footer className="shared-foot">{home}</footer>
    </article>
  );
};
