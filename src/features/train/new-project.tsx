import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Steps } from '#src/ui/steps/steps.tsx';
import { toast } from '#src/platform/toast.ts';
import { useCall } from '#src/platform/call-query.ts';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import type { TrainModel } from '#contract/train.ts';
import { fileStates, projectTypes, trainTexts } from '#contract/train-limits.ts';
import { BeginBar } from './begin-bar.tsx';
import { ComingFiles, FileDrop } from './file-drop.tsx';
import { endingsFor, kindsFor, useFileUpload } from './file-upload.ts';
import { LoraImages } from './lora-images.tsx';
import { ProjectForm, useEngines, useLearnsFree } from './project-form.tsx';
import { watchFiles, type Place } from './projects.ts';
import css from './train.module.css';

const stepNames = ['项目', '文件', '开始'] as const;

/** The second step: files come in, and wait for the third. */
const Files = ({ model, onDone }: { model: TrainModel; onDone: () => void }) => {
  const translation = model.type === projectTypes.translation;
  const free = useLearnsFree();
  const mouse = useMedia(finePointer);
  const packs = free && !translation;
  const { coming, take, retry, remove } = useFileUpload(model.id, { translation, packs });
  const files = useCall('trainFileList', { model_id: model.id, page_size: 256 }, watchFiles);
  const count = files.data?.total ?? 0;
  const endings = endingsFor(translation);
  return (
    <div className={css.step}>
      <FileDrop
        accept={endings.map((ending) => `.${ending}`).join(',')}
        text={mouse ? '选择文件，或拖到这里' : '选择文件'}
        hint={`${kindsFor(translation)}，每个小于 4 MB；压缩包会自动展开`}
        onFiles={(all) => void take(all)}
      />
      <ul className={css.files}>
        <ComingFiles coming={coming} onRetry={retry} onRemove={remove} />
        {files.data?.list.map((file) => (
          <li key={file.id} className={css.file}>
            <Icon name={file.status === fileStates.failed ? 'warning' : 'check'} />
            <div className={css.fileWords}>
              <strong>{file.name}</strong>
              {file.status === fileStates.failed ? (
                <small className={css.wrong}>没有成功：{file.error}</small>
              ) : (
                <small>已收到</small>
              )}
            </div>
          </li>
        ))}
      </ul>
      <Button
        kind="primary"
        disabled={coming.some(({ error }) => error === '')}
        onClick={() => {
          if (count === 0) toast(trainTexts.files, 'error');
          else onDone();
        }}
      >
        下一步
      </Button>
    </div>
  );
};

/** A new project in three steps: what it is, what it learns from, and that it begins. */
export const NewProject = ({
  place,
  open,
  id,
  step,
  onStep,
  onClose,
  onOpen,
}: {
  place: Place;
  open: boolean;
  /** The project that was begun; null: none yet. */
  id: number | null;
  /** From 1. */
  step: number;
  onStep: (id: number, step: number) => void;
  onClose: () => void;
  onOpen: (id: number) => void;
}) => {
  const engines = useEngines().data;
  const begun = useCall('trainModel', { model_id: id ?? 0 }, { enabled: open && id !== null });
  const found = begun.data?.model;
  const model = id !== null && found?.id === id && found.mine ? found : null;
  const title = place === 'train' ? '新建模型' : '新建翻译';
  const shown = id === null ? 1 : Math.min(Math.max(step, 1), stepNames.length);
  const lost = begun.isError || (found?.id === id && !found?.mine);
  return (
    <Sheet open={open} onClose={onClose} title={title}>
      <Steps steps={stepNames} current={shown - 1} />
      {id !== null && !model && !lost && <Skeleton lines={4} />}
      {id !== null && lost && (
        <EmptyState
          icon="warning"
          text="没有这个项目，它可能已被删除。"
          action={<Button onClick={onClose}>返回列表</Button>}
        />
      )}
      {shown === 1 && (id === null || model) && (
        <>
          {place === 'translate' && engines?.translate.length === 0 && (
            <p className={css.warning} role="note">
              还没有连接模型：文字会原样保留，不会翻译。管理员连接一个模型后就能翻译。
            </p>
          )}
          <ProjectForm
            key={id}
            place={place}
            model={model}
            submit="下一步"
            onDone={(made) => onStep(made.id, 2)}
          />
        </>
      )}
      {shown === 2 && model?.type === projectTypes.lora && (
        <div className={css.step}>
          <LoraImages key={model.id} model={model} onStarted={(now) => onStep(now.id, 3)} />
        </div>
      )}
      {shown === 2 && model && model.type !== projectTypes.lora && (
        <Files key={model.id} model={model} onDone={() => onStep(model.id, 3)} />
      )}
      {shown === 3 && model && model.waiting_num > 0 && (
        <BeginBar model={model} onBegun={() => void begun.refetch()} />
      )}
      {shown === 3 && model && model.waiting_num === 0 && (
        <EmptyState
          icon="check"
          text={`「${model.name}」已提交，正在排队等待执行。可以离开，完成后会通知您。`}
          action={
            <Button kind="primary" onClick={() => onOpen(model.id)}>
              看进度
            </Button>
          }
        />
      )}
    </Sheet>
  );
};
