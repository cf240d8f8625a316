import { saveOwn } from '#src/platform/save-file.ts';
import { momentColumn, numberColumn } from '#src/ui/table/columns.ts';
import { useAct } from '#src/platform/use-act.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { emptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { listProps } from '#src/ui/table/page-props.ts';
import { sortInput, sortingOf } from '#src/ui/table/sorted.ts';
import { tokensInYuan } from '#src/widgets/pay/money.ts';
import type { Out } from '#contract/calls.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { kindName } from './kinds.ts';
import css from './lists.module.css';

const route = getRouteApi('/account');

type Spend = Out<'transactionList'>['list'][number];

const columns: Column<Spend>[] = [
  {
    key: 'human',
    title: '内容',
    value: (row) => row.human,
    render: (row) => row.human || kindName(row.type),
    role: 'title',
    wide: true,
  },
  momentColumn('created_at', '时间'),
  { key: 'type', title: '类型', value: (row) => kindName(row.type) },
  { key: 'model', title: '模型', value: (row) => row.model },
  numberColumn('prompt_tokens', '提问'),
  numberColumn('completion_tokens', '回复'),
  numberColumn('deduct_tokens', '扣除', {
    render: (row) => <b>{row.deduct_tokens.toLocaleString('zh-CN')}</b>,
  }),
  {
    key: 'yuan',
    title: '约合',
    value: (row) => (row.deduct_tokens * 20) / 1e6,
    render: (row) => tokensInYuan(row.deduct_tokens),
    align: 'end',
  },
  numberColumn('current_balance', '扣除前余额'),
];

const TransactionTab = () => {
  const { page = 1, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const { token } = useAuth();
  const [model, setModel] = useState('');
  const [type, setType] = useState('');
  const { busy, run } = useAct();
  const filter = {
    ...(model === '' ? {} : { model }),
    ...(type === '' ? {} : { type: Number(type) }),
  };
  const spends = useCall(
    'transactionList',
    { page, ...filter, ...sortInput('transactionList', sort) },
    { enabled: token !== '', ...keepLast },
  );
  const show = (next: number, by: string | undefined = sort) =>
    void navigate({
      search: {
        tab: 'transaction',
        ...(by ? { sort: by } : {}),
        ...(next > 1 ? { page: next } : {}),
      },
    });
  const save = async () => {
    await run(async () => {
      await saveOwn('/api/transaction_file', {
        ...(model === '' ? {} : { model }),
        ...(type === '' ? {} : { type }),
      });
    });
  };
  const choose = (set: (value: string) => void) => (event: { target: { value: string } }) => {
    set(event.target.value);
    show(1);
  };
  return (
    <>
      <div className={css.bar}>
        <select aria-label="按类型筛选" value={type} onChange={choose(setType)}>
          <option value="">全部类型</option>
          {spends.data?.types.map((each) => (
            <option key={each} value={String(each)}>
              {kindName(each)}
            </option>
          ))}
        </select>
        <select aria-label="按模型筛选" value={model} onChange={choose(setModel)}>
          <option value="">全部模型</option>
          {spends.data?.models.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <Button busy={busy} onClick={() => void save()}>
          导出全部
        </Button>
      </div>
      <div className={css.spends}>
        <DataTable
          name="消费记录"
          csv={false}
          columns={columns}
          {...listProps(spends)}
          rowKey={(row) => String(row.id)}
          page={page}
          pageCount={spends.data?.page_count ?? 0}
          total={spends.data?.total ?? 0}
          onPage={(next) => show(next)}
          sorting={sortingOf('transactionList', sort, spends.data?.total, (by) =>
            show(1, by ?? ''),
          )}
          empty={emptyPlace(
            'autumn',
            '还没有消费。用收费模型聊天之后，每次扣了多少会记在这里。',
            <ButtonLink to="/" search={{ new: 1 }}>
              新建会话
            </ButtonLink>,
            { label: '一个 token 有多长', prompt: '一个 token 有多长？举几个例子。' },
          )}
        />
      </div>
    </>
  );
};

export default TransactionTab;
