import { api } from '#src/platform/api.ts';
import { attempt } from '#src/platform/attempt.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import type { TrainFile, TrainModel } from '#contract/train.ts';
import { fileStates, trainTexts } from '#contract/train-limits.ts';
import { isTranslation } from './projects.ts';
import css from './train.module.css';

/** What can be done with one file of a project. */
export const FileActs = ({
  file,
  model,
  onLog,
  onSides,
  onPassages = null,
}: {
  file: TrainFile;
  model: TrainModel;
  onLog: () => void;
  onSides?: () => void;
  /** Null: it has none to be seen. */
  onPassages?: (() => void) | null;
}) => {
  const { mine } = model;
  const { busy, run } = useAct();
  const remove = async () => {
    const sure = await confirmDelete({
      text: `去掉「${file.name}」和由它得到的内容？`,
      ok: '去掉',
    });
    if (!sure) return;
    await attempt(() => api.delTrainFile({ file_id: file.id }), '删除成功');
  };
  return (
    <div className={css.acts}>
      {onPassages && (
        <Button size="small" aria-label={`${file.name} 的段落`} onClick={onPassages}>
          段落
        </Button>
      )}
      <Button size="small" onClick={onLog}>
        日志
      </Button>
      {isTranslation(model) && file.status !== fileStates.unpacked && file.total_num > 0 && (
        <Button size="small" onClick={onSides}>
          对照
        </Button>
      )}
      {file.output_url !== '' && (
        <a className="button button-small" href={file.output_url} download>
          下载译文
        </a>
      )}
      {mine && file.retriable && (
        <Button
          size="small"
          busy={busy}
          onClick={() =>
            void run(() => api.retryTrainFile({ fileId: file.id }), trainTexts.retrying)
          }
        >
          重试
        </Button>
      )}
      {mine && (
        <Button size="small" aria-label={`去掉 ${file.name}`} onClick={() => void remove()}>
          去掉
        </Button>
      )}
    </div>
  );
};
