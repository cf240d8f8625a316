import { ChipLink, Tag } from '#src/ui/chip.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import type { Out } from '#contract/calls.ts';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import css from './market.module.css';

const route = getRouteApi('/apps');
/** So long after the last letter is searched, ms. */
const restMs = 250;

const own = [
  ['bought', '已购买'],
  ['outdated', '有更新'],
] as const;

/** The price, or that one has it. */
const ownedOr = ({ bought, price }: { bought: boolean; price: number }): string => {
  if (bought) return price === 0 ? '已取得' : '已购买';
  return price === 0 ? '免费' : yuan(price);
};

/** One of the list: what it is called, and its price or that one has it. */
const Card = ({ app }: { app: Out<'appList'>['list'][number] }) => (
  <Link to="/apps/details" search={{ appid: app.id }} className={`card ${css.card}`}>
    {app.cover_image_url ? (
      <img className={css.cover} src={`${app.cover_image_url}?size=320`} alt="" loading="lazy" />
    ) : (
      <span className={css.cover} aria-hidden="true">
        {Array.from(app.title)[0]}
      </span>
    )}
    <span className={css.about}>
      <strong>{app.title}</strong>
      <small>
        {app.type || '应用'} · {app.source || '官方'}
      </small>
      <span className={css.line}>
        <b className="tabular">{ownedOr(app)}</b>
        {app.outdated && <Tag>有更新</Tag>}
        <small className="tabular">
          {app.rating > 0 ? `★ ${app.rating.toFixed(1)}` : '暂无评分'}
        </small>
      </span>
    </span>
  </Link>
);

/** Apps to choose from: by type, by a word. */
export const AppsScreen = () => {
  usePageTitle('应用市场');
  const search = route.useSearch();
  const { type, query, mine, page = 1 } = search;
  const navigate = useNavigate();
  const { user, signedIn } = useAuth();
  const [text, setText] = useState(query ?? '');
  useEffect(() => {
    if (text.trim() === (query ?? '')) return undefined;
    const timer = setTimeout(
      () =>
        void navigate({
          to: '/apps',
          search: { type, mine, query: text.trim() || undefined },
          replace: true,
        }),
      restMs,
    );
    return () => clearTimeout(timer);
  }, [text, query, type, mine, navigate]);
  const found = useCall('appList', { type, query, mine, page }, keepLast);
  return (
    <div className="page">
      <header className="page-head">
        <h1>应用市场</h1>
      </header>
      <label className={css.search}>
        <Icon name="search" size={18} />
        <span className="sr-only">搜索应用</span>
        <input
          type="search"
          value={text}
          maxLength={100}
          placeholder="名称、类型或开发者"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {(found.data?.types.length ?? 0) > 0 && (
        <div className={css.types} role="group" aria-label="类型">
          {[undefined, ...(found.data?.types ?? [])].map((each) => (
            <ChipLink
              key={each ?? ''}
              to="/apps"
              search={{ type: each, query }}
              on={each === type && mine === undefined}
              activeOptions={{ explicitUndefined: true }}
            >
              {each ?? '全部'}
            </ChipLink>
          ))}
          {signedIn &&
            own.map(([key, label]) => (
              <ChipLink
                key={key}
                to="/apps"
                search={{ mine: key, query }}
                on={key === mine}
                activeOptions={{ explicitUndefined: true }}
              >
                {label}
              </ChipLink>
            ))}
        </div>
      )}
      {found.isPending && <Skeleton lines={8} />}
      {found.isError && !found.data && (
        <LoadFailed
          error={found.error}
          busy={found.isFetching}
          onRetry={() => void found.refetch()}
        />
      )}
      {found.data?.list.length === 0 &&
        (query || type || mine ? (
          <EmptyPlace
            drawing="neon"
            text={mine === 'outdated' ? '下载过的应用都是最新的。' : '没有找到。换个词或类型试试。'}
            action={
              <ButtonLink to="/apps" search={{}}>
                看全部
              </ButtonLink>
            }
          />
        ) : (
          <EmptyPlace
            drawing="neon"
            text="还没有应用。上架之后会出现在这里。"
            action={
              user?.admin && (
                <ButtonLink to="/market/manager/apps" kind="primary">
                  上架应用
                </ButtonLink>
              )
            }
            example={{
              label: '让助手写一个小工具',
              prompt: '写一个网页小工具：番茄钟，25 分钟一轮。',
            }}
          />
        ))}
      <ul className={css.grid}>
        {found.data?.list.map((app) => (
          <li key={app.id}>
            <Card app={app} />
          </li>
        ))}
      </ul>
      <Pager
        page={page}
        count={found.data?.page_count ?? 1}
        isCounted={found.data !== undefined && !found.isPlaceholderData}
        onPage={(next, replace) =>
          void navigate({ to: '/apps', search: { ...search, page: next }, replace })
        }
      />
    </div>
  );
};
