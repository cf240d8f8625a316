import { Tag } from '#src/ui/chip.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { api } from '#src/platform/api.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { draftCount } from '#src/platform/draft.ts';
import { forgetPerson, unsentCount } from '#src/platform/forget-person.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime, maskAccount } from '#src/platform/format.ts';
import { useMe, useOfficialSite, useUnreadNotices } from '#src/platform/queries.ts';
import { ImportSheet } from '#src/widgets/export/import-sheet.tsx';
import { Avatar } from '#src/ui/avatar.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { placeIcons, type PlaceIcon } from '#src/ui/place-icons.ts';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { toast } from '#src/platform/toast.ts';
import type { User } from '#contract/auth.ts';
import { Link, useNavigate, type LinkProps } from '@tanstack/react-router';
import { useState } from 'react';
import { AppRows } from './app-rows.tsx';
import css from './account.module.css';

const Balance = ({ user }: { user: User }) => (
  <section className={css.balance} aria-label="余额">
    <p>可用 token</p>
    <p
      className={`${css.balanceNumber} tabular`}
      title={user.chatgpt_balance.toLocaleString('zh-CN')}
    >
      {compactNumber(user.chatgpt_balance)}
    </p>
    <dl className={`${css.balanceFacts} tabular`}>
      {user.vip > 0 && (
        <div>
          <dt>会员本月额度</dt>
          <dd>{compactNumber(user.vip_balance)}</dd>
        </div>
      )}
      <div>
        <dt>本月还可新建会话</dt>
        <dd>{user.sessions_left === null ? '不限' : `${user.sessions_left} 个`}</dd>
      </div>
    </dl>
    <div className={css.balanceActs}>
      <ButtonLink to="/account" search={{ tab: 'recharge' }}>
        充值
      </ButtonLink>
      <ButtonLink to="/account" search={{ tab: 'vip' }}>
        {user.vip > 0 ? '续费会员' : '开通会员'}
      </ButtonLink>
    </div>
  </section>
);

const Invitation = ({ guest }: { guest: boolean }) => (
  <section className={`card ${css.invitation}`}>
    <h2>{guest ? '把会话留在自己的账号里' : '登录鹊桥'}</h2>
    <p>
      {guest
        ? '现在是访客身份，会话只在这个浏览器里看得到。注册或登录之后，它们会归到您的账号。'
        : '不登录也能用免费模型提问。登录之后可以使用全部模型，会话在每台设备上都能看到。'}
    </p>
    <div className={css.invitationActs}>
      <ButtonLink kind="primary" to="/login" search={{ back: '/account' }}>
        登录
      </ButtonLink>
      <ButtonLink to="/register" search={{ back: '/account' }}>
        注册
      </ButtonLink>
    </div>
  </section>
);

const Row = ({
  icon,
  text,
  unread = 0,
  ...link
}: { icon: PlaceIcon; text: string; unread?: number } & Pick<LinkProps, 'to' | 'search'>) => (
  <li>
    <Link {...link} className={css.rowLink}>
      <PathIcon path={placeIcons[icon]} />
      {text}
      {unread > 0 && <span className={css.rowNote}>{unread} 条未读</span>}
      <Icon name="forward" size={18} />
    </Link>
  </li>
);

/** The way to everything that has a place of its own. */
const Places = ({ onImport }: { onImport: () => void }) => {
  const { token, user, signedIn } = useAuth();
  const site = useOfficialSite();
  const unread = useUnreadNotices().count;
  return (
    <nav className={css.accountPlaces} aria-label="全部入口">
      {user?.admin && (
        <ul className={css.rows}>
          <Row icon="lock" text="管理" to="/manager/default" />
        </ul>
      )}
      <ul className={css.rows}>
        <Row icon="chat" text="我的会话" to="/" search={{ channel: 'private' }} />
        <Row icon="world" text="公共频道" to="/" search={{ channel: 'public' }} />
        <Row icon="star" text="我的收藏" to="/" search={{ channel: 'favorites' }} />
      </ul>
      <ul className={css.rows}>
        {token !== '' && <Row icon="image" text="我的图片" to="/image/private" />}
        <Row icon="book" text="知识库与画风" to="/train" />
        <Row icon="translate" text="翻译" to="/translate" />
        <Row icon="film" text="视频" to="/video" />
        {token !== '' && <Row icon="retry" text="任务" to="/tasks" />}
        {signedIn && (
          <>
            <Row icon="receipt" text="用量与消费" to="/account" search={{ tab: 'usage' }} />
            <Row icon="document" text="订单与发票" to="/account" search={{ tab: 'order' }} />
            <Row icon="share" text="邀请好友" to="/account" search={{ tab: 'invite' }} />
            <Row icon="person" text="资料" to="/account" search={{ tab: 'profile' }} />
            <Row icon="lock" text="安全" to="/account" search={{ tab: 'security' }} />
          </>
        )}
        <Row icon="bag" text="应用市场" to="/apps" />
        <Row icon="bell" text="公告" unread={unread} to="/notice" />
        {site !== '' && <Row icon="code" text="源码订阅" to="/subscribe" />}
        {signedIn && (
          <li>
            <button type="button" className={css.rowLink} onClick={() => onImport()}>
              <Icon name="plus" />
              导入会话
              <Icon name="forward" size={18} />
            </button>
          </li>
        )}
        <Row icon="settings" text="设置" to="/account" search={{ tab: 'settings' }} />
        <Row icon="code" text="开发者 API" to="/api" />
        <Row icon="help" text="帮助" to="/help" />
        {site !== '' && (
          <li>
            <a className={css.rowLink} href={`${site}/support`} target="_blank" rel="noreferrer">
              <Icon name="chat" />
              联系客服
              <Icon name="outward" size={18} />
            </a>
          </li>
        )}
      </ul>
      <AppRows />
    </nav>
  );
};

const Logout = () => {
  const navigate = useNavigate();
  const logout = async () => {
    const [unsent, drafts] = [unsentCount(), draftCount()];
    const lost = [
      ...(unsent > 0 ? [`${unsent} 条内容没有发出`] : []),
      ...(drafts > 0 ? [`${drafts} 份草稿没有写完`] : []),
    ];
    const sure = await confirmDialog({
      title: '退出登录',
      text:
        lost.length > 0
          ? `还有 ${lost.join('，')}，退出后它们会从这台设备上删除，不能恢复。`
          : '退出后，这个浏览器里不再显示您的会话。',
      ok: '退出',
      danger: true,
    });
    if (!sure) return;
    try {
      await api.logout({}, { quiet: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast('服务器没有收到退出请求，这个浏览器已经退出', 'error');
    }
    await forgetPerson();
    await navigate({ to: '/', replace: true });
  };

  return (
    <ul className={css.rows}>
      <li>
        <button
          type="button"
          className={`${css.rowLink} ${css.rowDanger}`}
          onClick={() => void logout()}
        >
          <Icon name="logout" />
          退出登录
        </button>
      </li>
    </ul>
  );
};

export const Overview = () => {
  const { token, user, signedIn, guest } = useAuth();
  const me = useMe();
  const [importing, setImporting] = useState(false);

  return (
    <div className={`page ${css.account}`}>
      <header className="page-head">
        <h1>我的</h1>
      </header>
      {token !== '' && !user && (
        <div className="card">
          {me.isError ? <p>账号信息没有取到，请稍后再试。</p> : <Skeleton lines={3} />}
        </div>
      )}
      {user && token !== '' && (
        <div className={css.person}>
          <Avatar name={user.user_name} src={user.avatar} size={56} />
          <div className={css.personWords}>
            <strong>{user.user_name}</strong>
            <span>{guest ? '访客' : maskAccount(user.account)}</span>
          </div>
          {user.vip > 0 && user.vip_expired_at && (
            <Tag kind="vip">VIP 至 {dateTime(user.vip_expired_at).slice(0, 10)}</Tag>
          )}
        </div>
      )}
      {signedIn && user ? (
        <Balance user={user} />
      ) : user || token === '' ? (
        <Invitation guest={guest} />
      ) : null}
      <Places onImport={() => setImporting(true)} />
      {signedIn && <Logout />}
      <ImportSheet open={importing} onClose={() => setImporting(false)} />
    </div>
  );
};
