import { api } from '#src/platform/api.ts';
import { dateTime } from '#src/platform/format.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import type { TrainFile } from '#contract/train.ts';
import { fileStates, trainLimits } from '#contract/train-limits.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import css from './train.module.css';

type Log = Out<'trainLog'>;

const Lines = ({ file }: { file: TrainFile }) => {
  const client = useQueryClient();
  const key = ['trainLog', file.id];
  const log = useQuery({
    queryKey: key,
    // Each time only what is new is asked for.
    queryFn: async ({ signal }): Promise<Log> => {
      const before = client.getQueryData<Log>(key)?.list ?? [];
      const more = await api.trainLog(
        { file_id: file.id, end_id: before.at(-1)?.id ?? 0 },
        { signal, quiet: true },
      );
      return { list: [...before, ...more.list], status: more.status };
    },
    refetchInterval: (query) =>
      query.state.data?.status === fileStates.working ? trainLimits.logPolling : false,
    staleTime: 0,
  });
  const list = useRef<HTMLOListElement>(null);
  const count = log.data?.list.length ?? 0;
  useEffect(() => {
    if (count === 0) return;
    const last = list.current?.lastElementChild;
    // Whoever reads further up is left there.
    const box = list.current?.parentElement;
    if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 160)
      last?.scrollIntoView({ block: 'nearest' });
  }, [count]);
  if (log.isPending) return <Skeleton lines={4} />;
  if (log.isError && !log.data) return <QueryFailed query={log} />;
  if (count === 0) return <EmptyState icon="receipt" text="还没有日志" />;
  return (
    <ol ref={list} className={css.log} role="log" aria-label="训练日志">
      {log.data?.list.map((line) => (
        <li key={line.id}>
          <time dateTime={line.created_at}>{dateTime(line.created_at)}</time>
          {line.content}
        </li>
      ))}
      {log.data?.status === fileStates.working && (
        <li className={css.logBusy} role="status">
          进行中，新的日志会出现在这里…
        </li>
      )}
    </ol>
  );
};

/** What happens with a file while it is worked on, line by line. */
export const LogSheet = ({ file, onClose }: { file: TrainFile | null; onClose: () => void }) => (
  <Sheet open={file !== null} onClose={onClose} title={file ? `日志 · ${file.name}` : '日志'}>
    {file && <Lines key={file.id} file={file} />}
  </Sheet>
);
