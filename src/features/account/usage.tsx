import { BackHead } from '@/shared/ui/back-head.tsx';
import { api } from '@/shared/api.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { dateTime } from '@/shared/format.ts';
import { relativeTime } from '@/shared/relative-time.ts';
import { Button } from '@/shared/ui/button.tsx';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { LoadFailed } from '@/shared/ui/load-failed.tsx';
import { Skeleton } from '@/shared/ui/skeleton.tsx';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

const number = (value: number) => value.toLocaleString('zh-CN');

/** What was spent: a table on wide screens, cards on a phone (the style sheet turns one into the other). */
export const Usage = () => {
  const { token } = useAuth();
  const [model, setModel] = useState('');
  const list = useInfiniteQuery({
    queryKey: ['transactionList', model],
    queryFn: ({ pageParam, signal }) =>
      api.transactionList({ page: pageParam, model: model || undefined }, { signal, quiet: true }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page < last.page_count ? last.page + 1 : undefined),
    enabled: token !== '',
  });
  const rows = list.data?.pages.flatMap((page) => page.list) ?? [];
  const models = list.data?.pages[0]?.models ?? [];
  return (
    <div className="page account">
      <BackHead to="/account" back="返回我的" title="消费记录" />
      {token === '' && (
        <EmptyState
          icon="receipt"
          text="登录之后可以看到自己的消费记录。"
          action={
            <Link
              className="button button-primary"
              to="/login"
              search={{ back: '/account?tab=usage' }}
            >
              登录
            </Link>
          }
        />
      )}
      {(models.length > 1 || model !== '') && (
        <select
          className="usage-model"
          aria-label="按模型筛选"
          value={model}
          onChange={(event) => setModel(event.target.value)}
        >
          <option value="">全部模型</option>
          {models.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      {token !== '' && list.isPending && (
        <div className="card">
          <Skeleton lines={6} />
        </div>
      )}
      {list.isError && (
        <LoadFailed error={list.error} busy={list.isFetching} onRetry={() => void list.refetch()} />
      )}
      {list.data && rows.length === 0 && (
        <EmptyState
          icon="receipt"
          text="还没有消费。用收费模型聊天之后，每次扣了多少会记在这里。"
          action={
            <Link className="button" to="/" search={{ new: 1 }}>
              新建会话
            </Link>
          }
        />
      )}
      {rows.length > 0 && (
        <table className="spent tabular">
          <thead>
            <tr>
              <th scope="col">时间</th>
              <th scope="col">内容</th>
              <th scope="col">模型</th>
              <th scope="col">提问</th>
              <th scope="col">回复</th>
              <th scope="col">扣除</th>
              <th scope="col">扣除前余额</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <time dateTime={row.created_at} title={dateTime(row.created_at)}>
                    {relativeTime(row.created_at)}
                  </time>
                </td>
                <td className="usage-human">{row.human}</td>
                <td>{row.model}</td>
                <td data-label="提问">{number(row.prompt_tokens)}</td>
                <td data-label="回复">{number(row.completion_tokens)}</td>
                <td data-label="扣除">
                  <strong>{number(row.deduct_tokens)}</strong>
                </td>
                <td data-label="扣除前余额">{number(row.current_balance)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.hasNextPage && (
        <div className="usage-more">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? '正在加载…' : '加载更早的记录'}
          </Button>
        </div>
      )}
    </div>
  );
};
