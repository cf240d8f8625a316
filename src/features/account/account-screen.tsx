import { ButtonLink } from '#src/ui/button.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { BackHead } from '#src/ui/back-head.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import accountCss from './account.module.css';
import css from './account-screen.module.css';
import { Overview } from './overview.tsx';
import type { AccountTab } from './account-search.ts';
import { SettingsPanel } from './settings-panel.tsx';

const waiting = (
  <div className="card">
    <Skeleton lines={6} />
  </div>
);
const UsageTab = lazyAsked(() => import('./usage-tab.tsx'), waiting);
const RechargeTab = lazyAsked(() => import('./recharge-tab.tsx'), waiting);
const VipTab = lazyAsked(() => import('./vip-tab.tsx'), waiting);
const OrderTab = lazyAsked(() => import('./order-tab.tsx'), waiting);
const TransactionTab = lazyAsked(() => import('./transaction-tab.tsx'), waiting);
const InviteTab = lazyAsked(() => import('./invite-tab.tsx'), waiting);
const ProfileTab = lazyAsked(() => import('./profile-tab.tsx'), waiting);
const SecurityTab = lazyAsked(() => import('./security-tab.tsx'), waiting);

const route = getRouteApi('/account');

const names: Record<AccountTab, string> = {
  usage: '用量',
  recharge: '充值',
  vip: '会员',
  order: '订单',
  transaction: '消费记录',
  invite: '邀请',
  profile: '资料',
  security: '安全',
  settings: '设置',
};
const screens: Record<Exclude<AccountTab, 'settings'>, React.ComponentType> = {
  usage: UsageTab,
  recharge: RechargeTab,
  vip: VipTab,
  order: OrderTab,
  transaction: TransactionTab,
  invite: InviteTab,
  profile: ProfileTab,
  security: SecurityTab,
};

const intoSight = (link: HTMLAnchorElement | null) =>
  link?.scrollIntoView({ block: 'nearest', inline: 'center' });

const Tabs = ({ at }: { at: AccountTab }) => (
  <nav className={`strip ${css.tabs}`} aria-label="账户">
    {(Object.keys(names) as AccountTab[]).map((tab) => (
      <Link
        key={tab}
        to="/account"
        search={{ tab }}
        replace
        {...(tab === at ? { 'aria-current': 'page', ref: intoSight } : {})}
      >
        {names[tab]}
      </Link>
    ))}
  </nav>
);

export const AccountScreen = () => {
  const { tab } = route.useSearch();
  const { signedIn, token } = useAuth();
  const wide = useMedia(wideEnoughForMenu);
  usePageTitle(tab ? names[tab] : '我的');
  if (!tab) return <Overview />;
  const Screen = tab === 'settings' ? null : screens[tab];
  return (
    <div className={`page ${accountCss.account}`}>
      <BackHead to="/account" back="返回我的" title={wide ? '账户' : names[tab]} />
      <Tabs at={tab} />
      {Screen === null ? (
        <SettingsPanel />
      ) : signedIn ? (
        <Screen />
      ) : (
        <EmptyPlace
          drawing="lighthouse"
          text={
            token === ''
              ? '登录之后可以使用。'
              : '访客没有账户。注册之后，这里的会话会归到您的账号。'
          }
          action={
            <ButtonLink kind="primary" to="/login" search={{ back: `/account?tab=${tab}` }}>
              登录或注册
            </ButtonLink>
          }
          example={{ label: '先不注册，问一句试试', prompt: '不注册能用什么？注册之后多了什么？' }}
        />
      )}
    </div>
  );
};
