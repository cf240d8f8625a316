import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { EmptyApi } from './empty-api.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { LoggedCall } from '#contract/developer.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import css from './api.module.css';
import { KeyFilter, Toggle } from './filters.tsx';

const count = (value: number) => value.toLocaleString('zh-CN');

const clear = async () => {
  const sure = await confirmDialog({
    title: '清空调用记录',
    text: '所有 KEY 的调用记录和保存的请求、回答都会删除，不能恢复。用量统计和账目不变。',
    ok: '清空',
    danger: true,
  });
  if (!sure) return;
  await api.clearCallLog({});
  toast('已清空', 'success');
};

const Facts = ({ call }: { call: LoggedCall }) => (
  <dl className={css.facts}>
    {(
      [
        ['时间', dateTime(call.time)],
        ['KEY', call.key],
        ['接口', call.path],
        ['模型', call.model || '—'],
        ['状态', String(call.status)],
        ['首字、全部', `${count(call.first_ms)} ms、${count(call.ms)} ms`],
        ['提问 token', `${count(call.prompt_tokens)}（缓存 ${count(call.cached_tokens)}）`],
        ['回答 token', `${count(call.completion_tokens)}（思考 ${count(call.reasoning_tokens)}）`],
        ['扣除', `${count(call.deduct_tokens)} tokens，${call.yuan} 元`],
      ] as const
    ).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

const Bodies = ({ id }: { id: string }) => {
  const bodies = useCall('apiCallBodies', { id });
  if (bodies.isPending) return <Skeleton lines={6} />;
  if (!bodies.data) return <QueryFailed query={bodies} />;
  const { request, answer } = bodies.data;
  return (
    <>
      {[
        ['请求', request],
        ['回答', answer],
      ].map(([name, text]) => (
        <section key={name} className={css.answer} aria-label={name ?? ''}>
          <header>
            <strong>{name}</strong>
          </header>
          <pre>{text || '（没有文字）'}</pre>
        </section>
      ))}
    </>
  );
};

/** What one's keys were used for in the last thirty days, call by call. */
export const LogTab = () => {
  const [key, setKey] = useState<number>();
  const [failed, setFailed] = useState(false);
  const [open, setOpen] = useState<LoggedCall>();
  const input = {
    ...(key === undefined ? {} : { key_id: key }),
    ...(failed ? { failed: 1 as const } : {}),
  };
  const log = useInfiniteQuery({
    queryKey: ['apiCallLog', input, { pages: '' }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      api.apiCallLog(
        { ...input, ...(pageParam === '' ? {} : { before: pageParam }) },
        { signal, quiet: true },
      ),
    getNextPageParam: (page) => (page.more ? page.list.at(-1)?.id : undefined),
  });
  const list = log.data?.pages.flatMap((page) => page.list) ?? [];
  return (
    <div className={css.tabBody}>
      <div className={css.filters}>
        <KeyFilter value={key} onChange={setKey} />
        <Toggle
          label="显示"
          value={failed ? 'failed' : 'all'}
          choices={{ all: '全部', failed: '失败的' }}
          onChange={(next) => setFailed(next === 'failed')}
        />
      </div>
      <div className={css.bar}>
        <p className={css.hint}>
          保留 30 天，只有自己能看。请求和回答的内容默认不保存，可以在每个 KEY 的“修改”里打开。
        </p>
        <Button size="small" disabled={list.length === 0} onClick={() => void clear()}>
          清空
        </Button>
      </div>
      {log.isPending && (
        <div className="card">
          <Skeleton lines={8} />
        </div>
      )}
      {log.isError && list.length === 0 && <QueryFailed query={log} />}
      {log.data && list.length === 0 && (
        <EmptyApi
          text="还没有调用。用 API-KEY 调用之后，每一次都会列在这里。"
          action={
            <Link className="button button-primary" to="/api" search={{ tab: 'playground' }}>
              现在调用一次
            </Link>
          }
        />
      )}
      <ul className={css.calls}>
        {list.map((call) => (
          <li key={call.id}>
            <button type="button" onClick={() => setOpen(call)}>
              <span
                className={css.method}
                data-failed={call.status >= 400 || call.failure !== '' || undefined}
              >
                {call.status}
              </span>
              <span className={css.callWords}>
                <code>{call.model || call.path}</code>
                <small>
                  {dateTime(call.time)}，{count(call.ms)} ms
                  {call.deduct_tokens > 0 && `，${call.yuan} 元`}
                </small>
                {call.failure !== '' && <small className={css.fault}>{call.failure}</small>}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {log.hasNextPage && (
        <Button busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          更早的
        </Button>
      )}
      <Sheet open={open !== undefined} onClose={() => setOpen(undefined)} title="一次调用">
        {open && (
          <div className={css.console}>
            <Facts call={open} />
            {open.failure !== '' && <p className={css.fault}>{open.failure}</p>}
            {open.has_bodies ? (
              <Bodies id={open.id} />
            ) : (
              <p className={css.hint}>这一次的请求和回答没有保存。</p>
            )}
          </div>
        )}
      </Sheet>
    </div>
  );
};
