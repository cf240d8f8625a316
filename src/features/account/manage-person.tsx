import { listProps } from '#src/ui/table/page-props.ts';
import { momentColumn } from '#src/ui/table/columns.ts';
import type { Out } from '#contract/calls.ts';
import { bounds } from '#contract/bounds.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { compactNumber } from '#common/compact-number.ts';
import { byteSize, dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Act } from '#src/ui/act.tsx';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { lastDays } from '#src/ui/chart/last-days.ts';
import { LineChart } from '#src/ui/chart/line-chart.tsx';
import { alertDialog, confirmDialog } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { sortInput, sortingOf } from '#src/ui/table/sorted.ts';
import type { AdminUser, LedgerLine } from '#contract/manage-user.ts';
import { useMemo, useState } from 'react';
import css from './manage-person.module.css';

const kinds: Readonly<Record<string, string>> = {
  grant: '增加',
  expire: '过期',
  hold: '预扣',
  release: '退回',
  spend: '消耗',
  transfer: '转移',
  purchase: '购买',
  refund: '退款',
  adjust: '调整',
};
const ledgerColumns: readonly Column<LedgerLine>[] = [
  { key: 'kind', title: '种类', value: (row) => kinds[row.kind] ?? row.kind, role: 'plain' },
  {
    key: 'amount',
    title: '数量',
    value: (row) => row.amount,
    render: (row) => `${row.amount > 0 ? '+' : ''}${row.amount.toLocaleString('zh-CN')}`,
    align: 'end',
    role: 'title',
  },
  { key: 'pot', title: '账户', value: (row) => (row.pot === 'vip' ? '会员额度' : '余额') },
  { key: 'remark', title: '备注', value: (row) => row.remark || '—', wide: true },
  momentColumn('created_at', '时间'),
];

const Ledger = ({ userId }: { userId: number }) => {
  const [{ page, sort }, setShown] = useState<{
    page: number;
    sort?: string | undefined;
  }>({ page: 1 });
  const ledger = useCall(
    'adminUserLedger',
    { user_id: userId, page, ...sortInput('adminUserLedger', sort) },
    keepLast,
  );
  return (
    <DataTable
      name="账本"
      columns={ledgerColumns}
      {...listProps(ledger)}
      rowKey={({ id }) => String(id)}
      empty={{ icon: 'receipt', text: '账本里还没有记录。' }}
      tools={false}
      page={page}
      pageCount={ledger.data?.page_count}
      onPage={(next) => setShown({ page: next, sort })}
      sorting={sortingOf('adminUserLedger', sort, ledger.data?.total, (by) =>
        setShown({ page: 1, sort: by }),
      )}
    />
  );
};

const Ability = ({ user, onSaved }: { user: AdminUser; onSaved: () => Promise<void> }) => (
  <Form
    fields={[
      { name: 'vip_expired_at', kind: 'moment', hint: '留空：不是会员' },
      {
        name: 'subscribe',
        kind: 'choice',
        required: true,
        options: [
          { value: '0', label: '没有' },
          { value: '1', label: '基础' },
          { value: '2', label: '高级' },
        ],
      },
      {
        name: 'gift',
        label: '赠送余额',
        kind: 'number',
        min: 0,
        max: 100_000_000_000,
        unit: 'tokens',
      },
      { name: 'remarks', kind: 'text', ...bounds.person.remarks },
    ]}
    initial={{ vip_expired_at: user.vip_expired_at, subscribe: String(user.subscribe) }}
    onSubmit={async ({ gift, remarks }, changed) => {
      const until = changed['vip_expired_at'];
      await api.activatedAbility(
        {
          user_id: user.user_id,
          ...(until === undefined ? {} : { vip_expired_at: until === null ? null : String(until) }),
          ...('subscribe' in changed ? { subscribe: Number(changed['subscribe']) } : {}),
          gift: Number(gift ?? 0),
          remarks: String(remarks ?? ''),
        },
        { quiet: true },
      );
      toast('保存成功', 'success');
      await onSaved();
    }}
  />
);

const Balance = ({ user, onSaved }: { user: AdminUser; onSaved: () => Promise<void> }) => (
  <Form
    fields={[
      {
        name: 'add',
        label: '怎么改',
        kind: 'choice',
        required: true,
        options: [
          { value: '1', label: '增加' },
          { value: '0', label: '扣除' },
        ],
      },
      {
        name: 'tokens',
        label: '数量',
        kind: 'number',
        required: true,
        min: 1,
        max: 100_000_000_000,
        unit: 'tokens',
      },
      {
        name: 'remarks',
        kind: 'text',
        required: true,
        ...bounds.person.remarks,
        hint: '用户在账单里看得到',
      },
    ]}
    initial={{ add: '1' }}
    submit="修改余额"
    onSubmit={async ({ add, tokens, remarks }) => {
      const { chatgpt_balance: balance } = await api.updateTokens(
        {
          user_id: user.user_id,
          add: add === '1' ? 1 : 0,
          tokens: Number(tokens),
          remarks: String(remarks ?? ''),
        },
        { quiet: true },
      );
      toast(`修改成功，余额 ${compactNumber(balance)}`, 'success');
      await onSaved();
    }}
  />
);

type Info = Out<'adminUserInfo'>;

/** Who it is, what was used, and where more of it is. */
const Facts = ({ info: { user, figures, days } }: { info: Info }) => {
  const chart = useMemo(() => {
    const spent = new Map(days.map(({ days, tokens }) => [days, tokens]));
    const times = lastDays(30);
    return { times, series: [{ label: '消耗', values: times.map((day) => spent.get(day) ?? 0) }] };
  }, [days]);
  const facts = [
    ['编号', user.user_id],
    ['用户名', user.account || '访客'],
    ['余额', compactNumber(user.chatgpt_balance)],
    ['会员额度', compactNumber(user.vip_balance)],
    ['今天消耗', compactNumber(figures.today_tokens)],
    ['30 天消耗', compactNumber(figures.month_tokens)],
    ['共消耗', compactNumber(figures.total_tokens)],
    ['会话', figures.session_count],
    ['消息', figures.history_count],
    ['图片', figures.image_count],
    ['图片与文件占用', byteSize(figures.file_bytes)],
    ['登录的设备', figures.login_count],
    ['最近使用', figures.last_seen_at ? dateTime(figures.last_seen_at) : '—'],
    ['注册', dateTime(user.created_at)],
  ] as const;
  return (
    <>
      <dl className={css.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <LineChart title="30 天消耗" unit="tokens" height={140} {...chart} />
      <div className={css.links}>
        <ButtonLink size="small" to="/manager/session" search={{ user_id: user.user_id }}>
          会话
        </ButtonLink>
        <ButtonLink size="small" to="/manager/order" search={{ user_id: user.user_id }}>
          订单
        </ButtonLink>
        <ButtonLink size="small" to="/manager/log" search={{ subject: `user:${user.user_id}` }}>
          操作记录
        </ButtonLink>
      </div>
    </>
  );
};

/** What a person may do, and what ends it. */
const Rights = ({ user }: { user: Info['user'] }) => {
  const userId = user.user_id;
  const reset = async () => {
    const yes = await confirmDialog({
      text: `为“${user.user_name}”重设密码？原来的密码失效，所有设备退出登录，API-KEY、通行密钥和近 30 天绑定的登录方式一并作废。`,
      ok: '重设',
      danger: true,
    });
    if (!yes) return;
    const { password } = await api.resetPassword({ user_id: userId });
    await alertDialog({ title: '新密码（只显示这一次）', text: password });
  };
  const signOut = async () => {
    const { ended } = await api.signOutUser({ user_id: userId });
    toast(`已退出 ${ended} 处登录`, 'success');
  };
  const minors = useCall('complianceState', {}).data?.settings.minors === 1;
  const resetMinor = async () => {
    const yes = await confirmDialog({
      text: `监护人忘了密码时，先核实身份。关闭“${user.user_name}”的未成年人模式？`,
      ok: '关闭',
    });
    if (!yes) return;
    await api.resetMinor({ user_id: userId });
    toast('已关闭', 'success');
  };
  const hide = async () => {
    const yes = await confirmDialog({
      text: `把“${user.user_name}”的所有会话都设为私有？`,
      ok: '设为私有',
    });
    if (!yes) return;
    const { changed } = await api.updateUserSession({ user_id: userId, history_private: 1 });
    toast(`${changed} 个会话改为私有`, 'success');
  };
  const disable = async (on: boolean) => {
    const yes =
      !on ||
      (await confirmDialog({
        text: `禁用“${user.user_name}”？本人不能再登录和使用，公开的内容别人都看不到，恢复账号后照原样公开。`,
        ok: '禁用',
        danger: true,
      }));
    if (yes) await api.updateUser({ user_id: userId, disabled: on ? 1 : 0 });
  };
  return (
    <>
      <SwitchField
        label="禁止新建会话"
        checked={user.session_blacklist === 1}
        onChange={(on) =>
          quietly(api.updateUser({ user_id: userId, session_blacklist: on ? 1 : 0 }))
        }
      />
      <SwitchField
        label="强制私有"
        hint="所有会话都是私有的，本人不能公开；取消后，以前公开的照原样公开"
        checked={user.session_private === 1}
        onChange={(on) =>
          quietly(api.updateUserSession({ user_id: userId, session_private: on ? 1 : 0 }))
        }
      />
      <SwitchField
        label="禁用账号"
        hint="本人看到：账号已被禁用，请联系管理员；公开的内容别人看不到，恢复后照原样公开"
        checked={user.disabled === 1}
        onChange={(on) => quietly(disable(on))}
      />
      <div>
        <Act icon="lock" label="把已有的会话都设为私有" onClick={() => quietly(hide())} />
        <Act icon="logout" label="让所有设备退出登录" onClick={() => quietly(signOut())} />
        {minors && (
          <Act icon="person" label="关闭未成年人模式" onClick={() => quietly(resetMinor())} />
        )}
        {user.guest === 0 && (
          <Act icon="retry" label="重设密码" danger onClick={() => quietly(reset())} />
        )}
      </div>
    </>
  );
};

const noGroup = '0';

/** What the person pays of each price. */
const Group = ({ user }: { user: Info['user'] }) => {
  const groups = useCall('peopleGroups', {});
  const list = groups.data?.list ?? [];
  if (user.guest === 1 || list.length === 0) return null;
  return (
    <Form
      fields={[
        {
          name: 'people_group',
          kind: 'choice',
          required: true,
          options: [
            { value: noGroup, label: '没有（原价）' },
            ...list.map(({ id, name, factor }) => ({
              value: String(id),
              label: `${name}（×${factor}）`,
            })),
          ],
          hint: '所有价格都乘以组的倍率；组在“模型与服务”里设',
        },
      ]}
      initial={{ people_group: String(user.people_group ?? noGroup) }}
      submit="更换用户组"
      onSubmit={async (values) => {
        const group = String(values['people_group']);
        await api.updateUser(
          { user_id: user.user_id, people_group: group === noGroup ? null : Number(group) },
          { quiet: true },
        );
        toast('修改成功', 'success');
      }}
    />
  );
};

const Profile = ({ info }: { info: Info }) => (
  <>
    <Facts info={info} />
    <Rights user={info.user} />
    <Group key={info.user.people_group} user={info.user} />
    <Form
      fields={[{ name: 'user_name', kind: 'text', required: true, max: 32 }]}
      initial={{ user_name: info.user.user_name }}
      submit="修改名称"
      onSubmit={async (values) => {
        await api.updateUser(
          { user_id: info.user.user_id, user_name: String(values['user_name']) },
          { quiet: true },
        );
        toast('修改成功', 'success');
      }}
    />
  </>
);

const sections = ['资料', '能力', '余额', '账本'] as const;

/** One person: figures, and all that a manager can change. */
export const ManagePerson = ({ userId }: { userId: number }) => {
  const [section, setSection] = useState<(typeof sections)[number]>('资料');
  const info = useCall('adminUserInfo', { user_id: userId });
  // What was given once is not still in the form, to be given again with the next change.
  const [saves, setSaves] = useState(0);
  const saved = async () => {
    await info.refetch();
    setSaves((before) => before + 1);
  };
  if (info.isError) return <QueryFailed query={info} />;
  if (!info.data) return <Skeleton lines={8} />;
  const { user } = info.data;
  return (
    <div className={css.person}>
      <h3>{user.user_name}</h3>
      <div className="segments" role="group" aria-label="看什么">
        {sections.map((each) => (
          <button
            type="button"
            key={each}
            aria-pressed={each === section}
            onClick={() => setSection(each)}
          >
            {each}
          </button>
        ))}
      </div>
      {section === '资料' && <Profile info={info.data} />}
      {section === '能力' &&
        (user.guest ? (
          <p>访客没有账号，不能开通。</p>
        ) : (
          <Ability key={saves} user={user} onSaved={saved} />
        ))}
      {section === '余额' &&
        (user.guest ? <p>访客没有余额。</p> : <Balance key={saves} user={user} onSaved={saved} />)}
      {section === '账本' && <Ledger userId={userId} />}
      {section !== '资料' && (
        <Button kind="ghost" onClick={() => setSection('资料')}>
          回到资料
        </Button>
      )}
    </div>
  );
};
