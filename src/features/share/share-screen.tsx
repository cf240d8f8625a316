import { ChipLink } from '#src/ui/chip.tsx';
import { maskName } from '#src/platform/format.ts';
import { useCallPages } from '#src/platform/call-query.ts';
import { ApiError, errorText } from '#src/platform/api-error.ts';
import { Exchange } from '#src/widgets/export/conversation.tsx';
import { dateTime } from '#src/platform/format.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useRef } from 'react';
import css from './share.module.css';

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

/** Keeps what is read in its place when messages come in above it: not every browser does. */
const usePlaceKept = () => {
  const talk = useRef<HTMLDivElement>(null);
  const kept = useRef<{ element: Element; top: number } | null>(null);
  useLayoutEffect(() => {
    if (!kept.current) return;
    const { element, top } = kept.current;
    if (!element.previousElementSibling) return;
    kept.current = null;
    window.scrollBy({ top: element.getBoundingClientRect().top - top, behavior: 'instant' });
  });
  const keep = () => {
    const element = talk.current?.firstElementChild;
    if (element) kept.current = { element, top: element.getBoundingClientRect().top };
  };
  return { talk, keep };
};

const home = (
  <ButtonLink kind="primary" to="/" search={{ new: 1 }}>
    用鹊桥继续聊
  </ButtonLink>
);

/** What somebody shared by a link: to be read, by anybody. */
export const ShareScreen = () => {
  const { key = '', page: start = 1 } = route.useSearch();
  const shared = useCallPages(
    'sharedSession',
    { key },
    {
      apart: start,
      initialPageParam: start,
      getPreviousPageParam: ({ page, page_count: count }) =>
        page > 1 ? Math.max(1, Math.min(page - 1, count)) : undefined,
      enabled: key !== '',
      staleTime: 5 * 60_000,
      meta: { steady: true },
    },
  );
  const [first] = shared.data?.pages ?? [];
  const title = first?.title || '分享的对话';
  usePageTitle(title);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = shared;
  const { hasPreviousPage, isFetchingPreviousPage, isFetchPreviousPageError } = shared;
  const { talk, keep } = usePlaceKept();
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
        <EmptyState icon="link" text="这个链接不存在，或者已停止分享。" action={home} />
      </div>
    );
  if (!first)
    return (
      <div className={`page ${css.shared}`}>
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
    <article className={`page ${css.shared}`}>
      <header className={css.sharedHead}>
        <h1>{title}</h1>
        <p>
          {maskName(first.user_name)} 分享于 {dateTime(first.created_at)} · 共 {first.total} 条消息
        </p>
        {first.page_count > 1 && (
          <nav className={css.sharedEnds} aria-label="分页">
            <ChipLink to="/share" search={{ key }} replace>
              从头看
            </ChipLink>
            <ChipLink to="/share" search={{ key, page: first.page_count }} replace>
              看最后一页
            </ChipLink>
          </nav>
        )}
      </header>
      {hasPreviousPage && (
        <div className={css.sharedMore}>
          <Button
            busy={isFetchingPreviousPage}
            onClick={() => {
              keep();
              void shared.fetchPreviousPage();
            }}
          >
            {isFetchPreviousPageError ? '没有读到，重试' : '看前面的消息'}
          </Button>
        </div>
      )}
      <div className={css.sharedTalk} role="log" aria-label="分享的对话" ref={talk}>
        {shared.data?.pages.flatMap((page) =>
          page.list.map((message) => <Exchange key={message.id} message={message} />),
        )}
      </div>
      {hasNextPage && (
        <div className={css.sharedMore} ref={near} key={shared.data?.pages.length}>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchNextPageError ? '没有读到，重试' : '继续往下看'}
          </Button>
        </div>
      )}
      <footer className={css.sharedFoot}>{home}</footer>
    </article>
  );
};
