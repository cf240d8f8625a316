import { attempt, ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { accountOf } from '#src/platform/account-of.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { byteSize, dateTime } from '#src/platform/format.ts';
import { keepNoticeSeen } from '#src/platform/queries.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { LicenceLinks } from '#src/ui/licence-links.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { NoticeText } from './notice-text.tsx';
import { Receipt } from '#src/widgets/pay/receipt.tsx';
import css from './notice-screen.module.css';

const route = getRouteApi('/notice');

/** All notices, a page at a time; looking at the newest marks it as read. */
export const NoticeScreen = () => {
  usePageTitle('公告');
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { token, user } = useAuth();
  const notices = useCall('noticeList', { page, page_size: 10 }, { apart: accountOf(token) });
  const data = notices.data;
  const newest = data?.list[0];
  const unread = token !== '' && page === 1 && newest && newest.read === 0 ? newest.id : 0;
  useEffect(() => {
    if (token === '' && newest && page === 1) keepNoticeSeen(newest.id);
  }, [token, newest, page]);
  useEffect(() => {
    if (unread === 0) return;
    api
      .updateNotice({ notice_id: unread }, { quiet: true })
      .then(() => queryClient.invalidateQueries({ queryKey: ['noticeInfo'] }))
      .catch(ignoreApiError);
  }, [unread]);
  const download = async (id: number) => {
    if (token === '') return navigate({ to: '/login', search: { back: '/notice' } });
    await attempt(async () => {
      const { url } = await api.downloadSourceCode({ id });
      if (url === '') await navigate({ to: '/subscribe' });
      else location.assign(url);
    });
  };
  const goTo = (next: number, replace = false) => {
    void navigate({ search: next > 1 ? { page: next } : {}, replace });
    scrollTo({ top: 0 });
  };
  const last = data?.page_count ?? 0;
  const gone = last > 0 && page > last;
  useEffect(() => {
    if (gone) goTo(last, true);
  });
  return (
    <div className={`page ${css.notices}`}>
      <header className="page-head">
        <h1>公告</h1>
      </header>
      <Receipt />
      {notices.isPending && (
        <div className="card">
          <Skeleton lines={6} />
        </div>
      )}
      {notices.isError && <QueryFailed query={notices} />}
      {data?.list.length === 0 && (
        <EmptyPlace
          drawing="magpies"
          text="还没有公告。管理员写给大家的，会在这里。"
          action={user?.admin && <ButtonLink to="/manager/notice">写公告</ButtonLink>}
          example={{ label: '先看看能做什么', prompt: '你能做什么？' }}
        />
      )}
      {data?.list.map((notice) => (
        <article key={notice.id} className={`card ${css.notice}`}>
          <time dateTime={notice.created_at}>
            {dateTime(notice.created_at)}
            {token !== '' && notice.read === 0 && <span className={css.fresh}>新</span>}
          </time>
          <NoticeText text={notice.content} />
          {notice.code_url !== '' && (
            <>
              <Button onClick={() => void download(notice.id)}>
                下载源码{notice.file_size > 0 && `（${byteSize(notice.file_size)}）`}
              </Button>
              <LicenceLinks />
            </>
          )}
        </article>
      ))}
      {data && data.page_count > 1 && (
        <nav className={css.pages} aria-label="分页">
          <Button disabled={page <= 1} onClick={() => goTo(page - 1)}>
            上一页
          </Button>
          <span className="tabular">
            {page} / {data.page_count}
          </span>
          <Button disabled={page >= data.page_count} onClick={() => goTo(page + 1)}>
            下一页
          </Button>
        </nav>
      )}
    </div>
  );
};
