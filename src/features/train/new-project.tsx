import { Button } from '@/ui/button.tsx';
import { EmptyState } from '@/ui/empty-state.tsx';
import { Sheet } from '@/ui/sheet.tsx';
import { Steps } from '@/ui/steps/steps.tsx';
import { toast } from '@/platform/toast.ts';
import { api } from '@/platform/api.ts';
import type { TrainModel } from '@contract/train.ts';
import { projectTypes, trainTexts } from '@contract/train-limits.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ComingFiles, FileDrop } from './file-drop.tsx';
import { endingsFor, useFileUpload } from './file-upload.ts';
import { LoraImages } from './lora-images.tsx';
import { ProjectForm, useEngines } from './project-form.tsx';
import type { Place } from './projects.ts';
import css from './train.module.css';

const stepNames = ['项目', '文件', '开始'] as const;

/** The second step: files come in and are learned from at once. */
const Files = ({ model, onDone }: { model: TrainModel; onDone: () => void }) => {
  const translation = model.type === projectTypes.translation;
  const { coming, take, retry, remove } = useFileUpload(model.id, translation);
  const files = useQuery({
    queryKey: ['trainFiles', model.id],
    queryFn: ({ signal }) =>
      api.trainFileList({ model_id: model.id, page_size: 256 }, { signal, quiet: true }),
  });
  const count = files.data?.total ?? 0;
  const endings = endingsFor(translation);
  return (
    <div className={css.step}>
      <FileDrop
        accept={endings.map((ending) => `.${ending}`).join(',')}
        text="选择文件，或拖到这里"
        hint={`${endings.join('、')}，每个小于 4 MB；压缩包会自动展开`}
        onFiles={take}
      />
      <ul className={css.files}>
        <ComingFiles coming={coming} onRetry={retry} onRemove={remove} />
        {files.data?.list.map((file) => (
          <li key={file.id} className={css.file}>
            <span aria-hidden="true">✓</span>
            <div className={css.fileWords}>
              <strong>{file.name}</strong>
              <small>已收到</small>
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
  onClose,
  onOpen,
}: {
  place: Place;
  open: boolean;
  onClose: () => void;
  onOpen: (id: number) => void;
}) => {
  const [model, setModel] = useState<TrainModel | null>(null);
  const [step, setStep] = useState(0);
  const engines = useEngines().data;
  const leave = () => {
    onClose();
    // What was begun is there, among one's own.
    setModel(null);
    setStep(0);
  };
  const title = place === 'train' ? '新建模型' : '新建翻译';
  return (
    <Sheet open={open} onClose={leave} title={title}>
      <Steps steps={stepNames} current={step} />
      {step === 0 && (
        <>
          {place === 'translate' && engines?.translate.length === 0 && (
            <p className={css.warning} role="note">
              还没有连接模型：文字会原样保留，不会翻译。管理员连接一个模型后就能翻译。
            </p>
          )}
          <ProjectForm
            place={place}
            onDone={(made) => {
              setModel(made);
              setStep(1);
            }}
          />
        </>
      )}
      {step === 1 && model && model.type === projectTypes.lora && (
        <div className={css.step}>
          <LoraImages
            model={model}
            onStarted={(now) => {
              setModel(now);
              setStep(2);
            }}
          />
        </div>
      )}
      {step === 1 && model && model.type !== projectTypes.lora && (
        <Files model={model} onDone={() => setStep(2)} />
      )}
      {step === 2 && model && (
        <EmptyState
          icon="check"
          text={`「${model.name}」已提交，正在排队等待执行。可以离开，完成后会通知您。`}
          action={
            <Button
              kind="primary"
              onClick={() => {
                const { id } = model;
                setModel(null);
                setStep(0);
                onOpen(id);
              }}
            >
              看进度
            </Button>
          }
        />
      )}
    </Sheet>
  );
};
