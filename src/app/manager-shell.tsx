import '#src/platform/late-calls.ts';
import { ButtonLink } from '#src/ui/button.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMe } from '#src/platform/queries.ts';
import { ToMissing } from '#src/ui/lead-away.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Link, Outlet, useLocation, type LinkProps } from '@tanstack/react-router';
import { useState } from 'react';
import { Commands } from './commands.tsx';
import { type ManagerIcon, managerIcons } from './manager-icons.ts';
import SetupCard from './setup-card.tsx';
import { SetupEnter } from './setup-enter.tsx';
import css from './manager-shell.module.css';

interface Entry {
  label: string;
  icon: ManagerIcon;
  to: LinkProps['to'];
  /** Only owners set it. */
  owner?: true;
}

/** The menu by what one comes for; the first group needs no name. */
const groups: readonly { name: string; entries: readonly Entry[] }[] = [
  {
    name: '',
    entries: [
      { label: '首页', icon: 'home', to: '/manager/default' },
      { label: '起步', icon: 'flag', to: '/manager/setup', owner: true },
    ],
  },
  {
    name: '数字',
    entries: [
      { label: '概览', icon: 'bars', to: '/manager/summary' },
      { label: '趋势', icon: 'trend', to: '/manager/chart' },
      { label: '排行', icon: 'cup', to: '/manager/ranking' },
      { label: '模型统计', icon: 'pie', to: '/manager/model_stats' },
    ],
  },
  {
    name: '人和会话',
    entries: [
      { label: '用户', icon: 'people', to: '/manager/user' },
      { label: '订单', icon: 'receipt', to: '/manager/order' },
      { label: '会话', icon: 'chat', to: '/manager/session' },
      { label: '公告', icon: 'horn', to: '/manager/notice' },
    ],
  },
  {
    name: '内容',
    entries: [
      { label: '场景', icon: 'cards', to: '/manager/scenario' },
      { label: '提示词', icon: 'quote', to: '/manager/prompt' },
      { label: '训练', icon: 'book', to: '/manager/train' },
      { label: '社区', icon: 'talk', to: '/manager/forum' },
      { label: '应用市场', icon: 'bag', to: '/market/manager/apps' },
    ],
  },
  {
    name: '站点',
    entries: [
      { label: '模型与服务', icon: 'cube', to: '/manager/model' },
      { label: '登录方式', icon: 'key', to: '/manager/sign_in', owner: true },
      { label: '安全与管理员', icon: 'lock', to: '/manager/security' },
      { label: '合规', icon: 'shield', to: '/manager/compliance' },
      { label: '操作记录', icon: 'document', to: '/manager/log' },
      { label: '服务状态', icon: 'pulse', to: '/manager/state' },
    ],
  },
];

const Entries = ({
  path,
  owner,
  onChosen,
}: {
  path: string;
  owner: boolean;
  onChosen?: () => void;
}) => (
  <>
    {groups.map(({ name, entries }) => (
      <div key={name} role="group" aria-label={name || undefined} className={css.group}>
        {name !== '' && (
          <div className={css.name} aria-hidden="true">
            {name}
          </div>
        )}
        {entries
          .filter((entry) => owner || entry.owner !== true)
          .map(({ label, icon, to }) => (
            <Link
              key={label}
              to={to}
              className={css.entry}
              aria-current={path === to ? 'page' : undefined}
              onClick={onChosen}
            >
              <PathIcon path={managerIcons[icon]} size={18} />
              {label}
            </Link>
          ))}
      </div>
    ))}
  </>
);

/** The administration: its menu beside the screen, or behind a button on a phone. */
export const ManagerShell = () => {
  const { token } = useAuth();
  const me = useMe();
  const { pathname, hash } = useLocation();
  const [open, setOpen] = useState(false);
  // The link that a first start prints; who came by it asked as a guest before, perhaps.
  if (pathname === '/manager/setup' && hash !== '' && (token === '' || me.data?.guest))
    return <SetupEnter code={hash} />;
  if (token === '')
    return (
      <div className="page">
        <EmptyState
          icon="lock"
          text="请先登录。"
          action={
            <ButtonLink kind="primary" to="/login" search={{ back: pathname }}>
              登录
            </ButtonLink>
          }
        />
      </div>
    );
  if (!me.data)
    return (
      <div className="page">
        <Skeleton lines={6} />
      </div>
    );
  // To everyone else there is nothing here.
  if (!me.data.admin) return <ToMissing />;
  const { owner } = me.data;
  const inSetup = pathname === '/manager/setup';
  const here = groups.flatMap(({ entries }) => entries).find(({ to }) => to === pathname);
  return (
    <div className={css.shell}>
      <div className={css.menu}>
        <Link to="/manager/default" className={css.brand}>
          鹊桥 管理
        </Link>
        <nav aria-label="管理菜单" className={css.list}>
          <Entries path={pathname} owner={owner} />
        </nav>
        <Link to="/" className={`${css.entry} ${css.leave}`}>
          <Icon name="back" size={18} />
          回到应用
        </Link>
        <Commands />
      </div>
      <div className={css.content}>
        {pathname === '/manager/default' && me.data.owner && <SetupCard home={false} />}
        <Outlet />
        <button
          type="button"
          className={css.pick}
          // Nothing lies over the path that a newcomer is led along.
          data-still={inSetup || undefined}
          onClick={() => setOpen(true)}
        >
          <PathIcon path={managerIcons[here?.icon ?? 'settings']} size={18} />
          {inSetup ? '管理的其他地方' : (here?.label ?? '管理')}
          <Icon name="down" size={16} />
        </button>
      </div>
      <Sheet open={open} onClose={() => setOpen(false)} title="管理">
        <div className={css.grid}>
          <Entries path={pathname} owner={owner} onChosen={() => setOpen(false)} />
        </div>
      </Sheet>
    </div>
  );
};
