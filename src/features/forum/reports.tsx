import rowCss from '#src/ui/chip-row.module.css';
import { Chip } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { maskName } from '#src/platform/format.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { reportWords } from '#src/widgets/editor/report-words.ts';
import { Link } from '@tanstack/react-router';
import css from './forum.module.css';

/** What people reported, for managers to judge. */
export const Reports = ({ page, state }: { page: number; state: 'done' | undefined }) => {
  const show = useTableSearch();
  const list = useCall('reportList', { page, state: state ?? 'open' }, keepLast);
  const resolve = async (id: number, remove: 0 | 1) => {
    if (
      remove === 1 &&
      !(await confirmDelete({
        title: '删除被举报的内容',
        text: '内容会从所有人面前消失，不能恢复。',
      }))
    )
      return;
    await api.resolveReport({ id, remove });
    toast(remove === 1 ? '内容已删除' : '已处理', 'success');
  };
  return (
    <>
      <nav className={rowCss.chipRow} aria-label="状态">
        {([undefined, 'done'] as const).map((each) => (
          <Chip
            key={each ?? 'open'}
            aria-pressed={state === each}
            onClick={() => show({ state: each })}
          >
            {each === undefined ? '未处理' : '已处理'}
          </Chip>
        ))}
      </nav>
      {list.isPending && <Skeleton lines={8} />}
      {list.isError && !list.data && <QueryFailed query={list} />}
      {list.data?.list.length === 0 && (
        <EmptyState
          icon="check"
          text={state === 'done' ? '还没有处理过举报。' : '没有等着处理的举报。'}
        />
      )}
      <ul className={css.list} aria-label="举报">
        {list.data?.list.map((report) => (
          <li key={report.id} className={css.question}>
            <div className={css.words}>
              <h3>
                <span className={css.pin}>{reportWords[report.reason]}</span>
                <Link
                  to="/chat"
                  search={{
                    uuid: report.uuid,
                    history_id: report.history_id === 0 ? undefined : report.history_id,
                  }}
                  className={css.link}
                >
                  {report.title || '没有标题'}
                </Link>
              </h3>
              <p className={css.excerpt}>{report.excerpt}</p>
              {report.note !== '' && <p className={css.note}>说明：{report.note}</p>}
              <p className={css.facts}>
                <span>作者：{maskName(report.author_name)}</span>
                <span>举报人：{maskName(report.user_name)}</span>
                <time className={css.end} dateTime={report.created_at}>
                  {relativeTime(report.created_at)}
                </time>
              </p>
              {report.resolved_at === null ? (
                <p className={css.buttons}>
                  <Button
                    size="small"
                    onClick={() => void resolve(report.id, 0).catch(() => undefined)}
                  >
                    没有问题
                  </Button>
                  <Button
                    size="small"
                    kind="danger"
                    onClick={() => void resolve(report.id, 1).catch(() => undefined)}
                  >
                    删除内容
                  </Button>
                </p>
              ) : (
                <p className={css.note}>{report.removed ? '已删除内容' : '已判为没有问题'}</p>
              )}
            </div>
          </li>
        ))}
      </ul>
      {list.data && (
        <Pager
          page={page}
          count={list.data.page_count}
          isCounted={list.data.list.length === 0}
          onPage={(next, instead) => show({ page: next }, instead)}
        />
      )}
    </>
  );
};
