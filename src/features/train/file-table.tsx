import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { byteSize } from '#src/platform/format.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import type { TrainFile, TrainModel } from '#contract/train.ts';
import { fileStates } from '#contract/train-limits.ts';
import { FileActs } from './file-acts.tsx';
import { fileState } from './projects.ts';
import css from './train.module.css';

const removeAll = async (model: TrainModel, files: readonly TrainFile[]): Promise<boolean> => {
  const sure = await confirmDialog({
    text: `去掉 ${files.length} 个文件和由它们得到的内容？不能恢复。`,
    ok: '去掉',
    danger: true,
  });
  if (!sure) return false;
  return attempt(
    () => api.actOnFiles({ model_id: model.id, ids: files.map(({ id }) => id), act: 'remove' }),
    '删除成功',
  );
};

const retryAll = async (model: TrainModel, files: readonly TrainFile[]): Promise<void> => {
  await attempt(async () => {
    const ids = files.map(({ id }) => id);
    const { done } = await api.actOnFiles({ model_id: model.id, ids, act: 'retry' });
    toast(
      done > 0 ? `${done} 个文件重新开始` : '其中没有可以重试的',
      done > 0 ? 'success' : 'error',
    );
  });
};

/** The files of a knowledge base: many at a glance, and many done with at once. */
export const FileTable = ({
  model,
  files,
  onLog,
  onPassages,
}: {
  model: TrainModel;
  /** Undefined while they are read. */
  files: readonly TrainFile[] | undefined;
  onLog: (file: TrainFile) => void;
  onPassages: (file: TrainFile) => void;
}) => {
  const columns: Column<TrainFile>[] = [
    {
      key: 'name',
      title: '名称',
      value: ({ name }) => name,
      role: 'title',
      sortable: true,
      wide: true,
    },
    {
      key: 'state',
      title: '状态',
      value: (file) => fileState(file, false),
      render: (file) => <span className={css.why}>{fileState(file, false)}</span>,
      role: 'plain',
    },
    {
      key: 'passages',
      title: '段落',
      value: ({ status, total_num: count }) => (status === fileStates.done ? count : null),
      align: 'end',
      sortable: true,
    },
    {
      key: 'size',
      title: '大小',
      value: ({ size }) => size,
      render: ({ size }) => (size > 0 ? byteSize(size) : '—'),
      align: 'end',
      sortable: true,
    },
    {
      key: 'time',
      title: '时间',
      value: ({ updated_at: at }) => at,
      render: ({ updated_at: at }) => relativeTime(at),
      sortable: true,
    },
    {
      key: 'acts',
      title: '操作',
      value: () => null,
      role: 'bare',
      render: (file) => (
        <FileActs
          file={file}
          model={model}
          onLog={() => onLog(file)}
          onPassages={model.mine && file.status === fileStates.done ? () => onPassages(file) : null}
        />
      ),
    },
  ];
  return (
    <DataTable
      name="文件"
      columns={columns}
      rows={files}
      rowKey={({ id }) => String(id)}
      empty={{ icon: 'document', text: '还没有文件。' }}
      tone={({ status }) => (status === fileStates.failed ? 'bad' : undefined)}
      csv={false}
      {...(model.mine && {
        renderChosen: (chosen: readonly TrainFile[], clear: () => void) => (
          <>
            {chosen.some(({ retriable }) => retriable) && (
              <Button size="small" onClick={() => void retryAll(model, chosen).then(clear)}>
                重试
              </Button>
            )}
            <Button
              size="small"
              kind="danger"
              onClick={() => void removeAll(model, chosen).then((done) => done && clear())}
            >
              去掉
            </Button>
          </>
        ),
      })}
    />
  );
};
