import { ChipLink, Tag } from '#src/ui/chip.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { PagedList } from '#src/ui/paged-list.tsx';
import { SearchField } from '#src/ui/search-field.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import type { Out } from '#contract/calls.ts';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import css from './market.module.css';

const route = getRouteApi('/apps');
type Search = ReturnType<typeof route.useSearch>;

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

/** Why no app is shown, and where to go from there. */
const NoApps = ({ search: { type, query, mine } }: { search: Search }) => {
  const { user } = useAuth();
  if (query || type || mine)
    return (
      <EmptyPlace
        drawing="neon"
        text={mine === 'outdated' ? '下载过的应用都是最新的。' : '没有找到。换个词或类型试试。'}
        action={
          <ButtonLink to="/apps" search={{}}>
            看全部
          </ButtonLink>
        }
      />
    );
  return (
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
  );
};

/** Apps to choose from: by type, by a word. */
export const AppsScreen = () => {
  usePageTitle('应用市场');
  const search = route.useSearch();
  const { type, query, mine, page = 1 } = search;
  const navigate = useNavigate();
  const { signedIn } = useAuth();
  const found = useCall('appList', { type, query, mine, page }, keepLast);
  return (
    <div className="page">
      <header className="page-head">
        <h1>应用市场</h1>
      </header>
      <SearchField
        className={css.search}
        label="搜索应用"
        placeholder="名称、类型或开发者"
        words={query}
        onSearch={(words) =>
          void navigate({ to: '/apps', search: { type, mine, query: words }, replace: true })
        }
      />
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
      <PagedList
        query={found}
        waiting={<Skeleton lines={8} />}
        empty={<NoApps search={search} />}
        page={page}
        onPage={(next, replace) =>
          void navigate({ to: '/apps', search: { ...search, page: next }, replace })
        }
      >
        {(apps) => (
          <ul className={css.grid}>
            {apps.map((app) => (
              <li key={app.id}>
                <Card app={app} />
              </li>
            ))}
          </ul>
        )}
      </PagedList>
    </div>
  );
};
