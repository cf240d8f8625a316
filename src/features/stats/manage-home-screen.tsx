import { useCall } from '#src/platform/call-query.ts';
import { useMe } from '#src/platform/queries.ts';
import { lastDays } from '#src/ui/chart/last-days.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { Figure } from './figures.tsx';
import { LatestPart, RequestsPart, WaitingPart } from './home-parts.tsx';
import css from './stats.module.css';
import { SummaryFigures } from './summary-screen.tsx';

const links: readonly { to: LinkProps['to']; label: string; note: string }[] = [
  { to: '/manager/session', label: '会话', note: '查看、修改、删除会话与消息' },
  { to: '/manager/scenario', label: '场景', note: '内置与大家投稿的场景' },
  { to: '/manager/user', label: '用户', note: '余额、会员、权限、密码' },
  { to: '/manager/model', label: '模型与服务', note: '接入服务，定价格与顺序' },
  { to: '/manager/notice', label: '公告', note: '写、定时、附件' },
  { to: '/manager/order', label: '订单', note: '退款、发票、对账' },
  { to: '/market/manager/apps', label: '应用市场', note: '发布应用，版本与评论' },
  { to: '/manager/train', label: '训练', note: '大家的知识库、画风与翻译' },
  { to: '/manager/forum', label: '社区', note: '举报、分组、屏蔽词' },
  { to: '/manager/log', label: '操作记录', note: '谁在什么时候改了什么' },
  { to: '/manager/state', label: '服务状态', note: '磁盘、数据库、任务、快慢' },
];

const soon = '…';

/** What came in and what went wrong: the first things that are asked for. */
const useMoneyAndErrors = (): Figure[] => {
  const days = useCall('adminOrderList', { page: 1 }).data?.days;
  const errors = useCall('adminService', {}).data?.errors;
  const [today] = lastDays(1);
  const month = days?.reduce((sum, { amount }) => sum + amount, 0);
  const now = days?.find(({ day }) => day === today)?.amount ?? 0;
  return [
    {
      label: '30 天收入',
      value: month === undefined ? soon : yuan(month),
      note: month !== undefined && `今天 ${yuan(now)}`,
    },
    {
      label: '出错的请求',
      value: errors === undefined ? soon : errors.toLocaleString('zh-CN'),
      note: '这次启动以来',
    },
  ];
};

/** Where a manager begins: what is missing, the figures, and the ways on. */
export const ManageHomeScreen = () => {
  const me = useMe();
  const presets = useCall('channelPresets', {});
  const first = useMoneyAndErrors();
  return (
    <ManagePage title="管理">
      {presets.data?.first && me.data?.owner === false && (
        <Link to="/manager/start" className={css.link}>
          <strong>接入第一个模型服务 →</strong>
          <small>
            现在只有内置助手。选一家，贴上密钥，就接入 DeepSeek、通义千问、Kimi 等，或本机的
            Ollama。
          </small>
        </Link>
      )}
      <SummaryFigures first={first} />
      <div className={css.home}>
        <RequestsPart />
        <WaitingPart />
      </div>
      <LatestPart />
      <div className={`${css.cards} ${css.ways}`}>
        {links.map(({ to, label, note }) => (
          <Link key={label} to={to} className={css.link}>
            <strong>{label}</strong>
            <small>{note}</small>
          </Link>
        ))}
      </div>
    </ManagePage>
  );
};
