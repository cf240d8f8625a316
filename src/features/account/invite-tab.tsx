import { momentColumn } from '#src/ui/table/columns.ts';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { copyText } from '#src/platform/copy.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime, maskName } from '#src/platform/format.ts';
import { Button } from '#src/ui/button.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { listProps } from '#src/ui/table/page-props.ts';
import type { Out } from '#contract/calls.ts';
import { invitation } from '#contract/goods.ts';
import { getRouteApi } from '@tanstack/react-router';
import css from './invite-tab.module.css';

const route = getRouteApi('/account');

type Came = Out<'inviteList'>['list'][number];

const columns: Column<Came>[] = [
  {
    key: 'user_name',
    title: '谁',
    value: (row) => maskName(row.user_name),
    role: 'title',
    wide: true,
  },
  {
    key: 'tokens',
    title: '得到',
    value: (row) => row.tokens,
    render: (row) => {
      if (row.waiting) return `等 TA 用满 ${invitation.activeDays} 天（${row.active_days} 天）`;
      return row.tokens === 0 ? '超出当天的上限' : compactNumber(row.tokens);
    },
    align: 'end',
  },
  momentColumn('created_at', '时间'),
];

const InviteTab = () => {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { token } = useAuth();
  const { busy, run } = useAct();
  const info = useCall('inviteInfo', {}, { enabled: token !== '' });
  const came = useCall('inviteList', { page }, { enabled: token !== '' });
  const data = info.data;
  const link = data?.code ? `${location.origin}/register?invite=${data.code}` : '';
  const make = async () => {
    await run(async () => {
      await api.newInvite({});
    });
  };
  return (
    <>
      <section className={`card ${css.invite}`}>
        <h2>邀请好友</h2>
        {!data ? (
          <Skeleton lines={3} />
        ) : (
          <>
            <p>
              好友用您的链接注册，您得到 {compactNumber(data.tokens)} tokens。链接 {data.days}{' '}
              天内有效。
            </p>
            <p className={css.until}>
              每天最多 {invitation.aDay} 位。从您自己的网络注册的，或同一个网络一天里第{' '}
              {invitation.ofNetwork + 1} 位起的（IPv6 也看运营商的网段，一天里第{' '}
              {invitation.ofProvider + 1} 位起），等 TA 在 {invitation.activeDays}{' '}
              天里都来用过，再记给您。
            </p>
            {link === '' ? (
              <Button kind="primary" busy={busy} onClick={() => void make()}>
                生成邀请链接
              </Button>
            ) : (
              <>
                <p className={css.link}>{link}</p>
                <p className={css.until}>有效到 {dateTime(data.expires_at ?? '')}</p>
                <div className={css.acts}>
                  <Button kind="primary" onClick={() => void copyText(link)}>
                    复制链接
                  </Button>
                  <Button busy={busy} onClick={() => void make()}>
                    换一个新的
                  </Button>
                </div>
              </>
            )}
            <p className={css.until}>
              已有 {data.total} 人注册，共得到 {compactNumber(data.total_tokens)} tokens
              {data.waiting > 0 &&
                `，还有 ${data.waiting} 位在等 TA 用满 ${invitation.activeDays} 天`}
            </p>
          </>
        )}
      </section>
      <DataTable
        name="谁来了"
        columns={columns}
        {...listProps(came)}
        rowKey={(row) => row.created_at + row.user_name}
        page={page}
        pageCount={came.data?.page_count ?? 0}
        total={came.data?.total ?? 0}
        onPage={(next, replace) =>
          void navigate({ search: { tab: 'invite', page: next }, replace })
        }
        empty={{ icon: 'people', text: '还没有人用您的链接注册。把链接发给朋友试试。' }}
      />
    </>
  );
};

export default InviteTab;
