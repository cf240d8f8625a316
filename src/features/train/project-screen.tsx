import { saveFrom, saveOwn } from '#src/platform/save-file.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { useAct } from '#src/platform/use-act.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { copyText } from '#src/platform/copy.ts';
import { byteSize, maskName } from '#src/platform/format.ts';
import { progressText } from '#src/platform/job-text.ts';
import { useJob } from '#src/platform/jobs.ts';
import { useChosenModel } from '#src/platform/queries.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import type { In } from '#contract/calls.ts';
import { useStopJob } from '#src/widgets/job/use-stop-job.ts';
import type { Job } from '#contract/job.ts';
import type { TrainFile, TrainModel } from '#contract/train.ts';
import { fileStates, projectStates, projectTypes, trainTexts } from '#contract/train-limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { BeginBar } from './begin-bar.tsx';
import { ComingFiles, FileDrop } from './file-drop.tsx';
import { endingsFor, kindsFor, useFileUpload } from './file-upload.ts';
import { FileActs } from './file-acts.tsx';
import { FileTable } from './file-table.tsx';
import { Keeping } from './keeping.tsx';
import { LogSheet } from './log-sheet.tsx';
import { LoraImages } from './lora-images.tsx';
import { PassagesSheet } from './passages-sheet.tsx';
import { useProjectJob } from './project-card.tsx';
import { ProjectForm, useEngines, useLearnsFree } from './project-form.tsx';
import {
  droppedFiles,
  fileState,
  isTranslation,
  kindWords,
  stateWords,
  type Place,
  watchFiles,
  watchMs,
} from './projects.ts';
import { Sides } from './sides.tsx';
import { TryQuestions } from './try-questions.tsx';
import css from './train.module.css';

/** Files of a page of the list, as document 3 §9 has it. */
const pageSize = 256;

const FileRow = ({
  file,
  model,
  onLog,
  onSides,
}: {
  file: TrainFile;
  model: TrainModel;
  onLog: () => void;
  onSides: () => void;
}) => {
  const working = file.status === fileStates.working && !file.waiting;
  return (
    <li className={css.file} data-state={file.status}>
      <Icon name={file.status === fileStates.failed ? 'warning' : 'document'} />
      <div className={css.fileWords}>
        <strong>{file.name}</strong>
        <small className={file.status === fileStates.failed ? css.wrong : undefined}>
          {fileState(file, model.type === projectTypes.knowledge)}
        </small>
        {working && file.total_num > 0 && (
          <ProgressBar label={`${file.name} 的进度`} part={file.over_num / file.total_num} />
        )}
        <small>
          {file.size > 0 && `${byteSize(file.size)} · `}
          {file.waiting
            ? `收到于 ${relativeTime(file.created_at)}`
            : working
              ? '结束时间 -'
              : `结束于 ${relativeTime(file.updated_at)}`}
        </small>
        <FileActs file={file} model={model} onLog={onLog} onSides={onSides} />
      </div>
    </li>
  );
};

const Files = ({ model }: { model: TrainModel }) => {
  const translation = isTranslation(model);
  const [page, setPage] = useState(1);
  const [logged, setLogged] = useState<TrainFile | null>(null);
  const [sides, setSides] = useState<number | null>(null);
  const [opened, setOpened] = useState<TrainFile | null>(null);
  const knowledge = model.type === projectTypes.knowledge;
  // Where nothing is paid, nothing has to be asked first.
  const free = useLearnsFree();
  const begins = knowledge && free;
  const { coming, take, retry, remove } = useFileUpload(model.id, { translation, begins });
  useEffect(() => {
    const dropped = droppedFiles.get(model.id);
    if (dropped) void take(dropped);
    droppedFiles.delete(model.id);
  });
  const files = useCall(
    'trainFileList',
    { model_id: model.id, page, page_size: pageSize },
    { ...watchFiles, ...keepLast },
  );
  const list = files.data?.list ?? [];
  const endings = endingsFor(translation);
  const adds = model.mine && model.type !== projectTypes.lora;
  if (sides !== null) return <Sides fileId={sides} onClose={() => setSides(null)} />;
  return (
    <section className={css.section} aria-label="文件">
      <h2>{model.type === projectTypes.lora ? '训练记录' : '文件'}</h2>
      {adds && (
        <FileDrop
          accept={endings.map((ending) => `.${ending}`).join(',')}
          text="添加文件"
          hint={`${kindsFor(translation)}，每个小于 4 MB`}
          onFiles={(all) => void take(all)}
        />
      )}
      {adds && model.waiting_num > 0 && <BeginBar model={model} />}
      {files.isPending && !knowledge && <Skeleton lines={4} />}
      {files.isError && !files.data && <QueryFailed query={files} />}
      {files.data && !knowledge && list.length === 0 && coming.length === 0 && (
        <p className={css.note}>
          {model.type === projectTypes.lora ? '还没有训练过。' : '还没有文件。'}
        </p>
      )}
      <ul className={css.files}>
        <ComingFiles coming={coming} onRetry={retry} onRemove={remove} />
        {(knowledge ? [] : list).map((file) => (
          <FileRow
            key={file.id}
            file={file}
            model={model}
            onLog={() => setLogged(file)}
            onSides={() => setSides(file.id)}
          />
        ))}
      </ul>
      {knowledge && (files.data ?? files.isPending) && (
        <FileTable
          model={model}
          files={files.data?.list}
          onLog={setLogged}
          onPassages={setOpened}
        />
      )}
      <Pager
        page={page}
        count={files.data?.page_count ?? 0}
        isCounted={files.data?.list.length === 0}
        onPage={setPage}
      />
      <PassagesSheet file={opened} onClose={() => setOpened(null)} />
      <LogSheet file={logged} onClose={() => setLogged(null)} />
    </section>
  );
};

/** @param of what it stops, in words */
const StopWork = ({ job, of }: { job: Job; of: string }) => {
  const now = useJob(job)?.job ?? job;
  const { label, busy, stop } = useStopJob(now);
  return (
    <Button busy={busy} onClick={stop}>
      {label.replace(/^(?:取消|停止)/, (word) => word + of)}
    </Button>
  );
};

const removeProject = async (model: TrainModel): Promise<boolean> => {
  const sure = await confirmDelete({
    title: '删除项目',
    text: `删除「${model.name}」和它的全部文件？不能恢复。`,
  });
  return sure && attempt(() => api.delTrainModel({ id: model.id }), '删除成功');
};

/** What is done with what was learned: it is asked, painted with, or downloaded. */
const Uses = ({ model }: { model: TrainModel }) => {
  const chosen = useChosenModel();
  const navigate = useNavigate();
  const refuse = useRefusal();
  const { busy, run } = useAct(refuse);
  const trained = model.status === projectStates.trained || model.status === projectStates.packed;
  const mark = `<lora:${model.key}:0.7>`;
  /** Makes a session with the project and opens it, with these words in the box. */
  const open = (session: In<'newSession'>, prompt?: string) =>
    void run(async () => {
      const { uuid } = await api.newSession(session, { quiet: true });
      await navigate({ to: '/chat', search: { uuid, prompt } });
    });
  if (model.type === projectTypes.knowledge)
    return (
      <>
        <Button
          kind="primary"
          busy={busy}
          // Of what is still being read nothing would be found.
          disabled={model.over_num === 0}
          onClick={() =>
            open({ type: sessionTypes.chat, embedding: model.key, model: chosen?.name })
          }
        >
          {model.over_num === 0 && model.mine ? '读完文件就能提问' : '向它提问'}
        </Button>
        {!model.private && (
          <Button
            onClick={() =>
              void copyText(`${location.origin}/redirect?embedding=${model.key}&open=1`)
            }
          >
            复制分享链接
          </Button>
        )}
      </>
    );
  if (model.type === projectTypes.lora)
    return (
      <>
        <Button
          kind="primary"
          busy={busy}
          onClick={() => {
            if (trained) open({ type: sessionTypes.image }, `${mark} `);
            else toast('模型还没有训练完成，请稍后再试', 'error');
          }}
        >
          去作画
        </Button>
        {trained && <Button onClick={() => void copyText(mark)}>复制作画标记</Button>}
        {trained && (
          <Button
            onClick={() =>
              void attempt(() =>
                saveOwn('/api/train/download_lora_model', { model_id: String(model.id) }),
              )
            }
          >
            下载模型
          </Button>
        )}
      </>
    );
  const pack = async () => {
    const { url } = await api.packModel({ model_id: model.id });
    saveFrom(url);
  };
  return (
    model.mine && (
      <Button
        kind="primary"
        busy={busy}
        disabled={model.over_num === 0 || model.job !== null}
        onClick={() => void run(() => attempt(pack, '打包好了'))}
      >
        {model.status === projectStates.packed ? '再次打包' : '打包下载'}
      </Button>
    )
  );
};

/** What can be done with a whole project. */
const ProjectActs = ({ model, onGone }: { model: TrainModel; onGone: () => void }) => {
  const [editing, setEditing] = useState(false);
  const translation = isTranslation(model);
  return (
    <section className={css.section} aria-label="操作">
      <div className={css.acts}>
        <Uses model={model} />
        {model.job && <StopWork job={model.job} of={translation ? '翻译' : '训练'} />}
        {model.mine && <Button onClick={() => setEditing(true)}>设置</Button>}
        {model.mine && (
          <Button
            kind="danger"
            onClick={() => void removeProject(model).then((gone) => gone && onGone())}
          >
            删除
          </Button>
        )}
      </div>
      {model.mine && (
        <SwitchField
          label="公开"
          hint={model.private ? '现在只有您能看到和使用' : '现在所有人都能看到和使用'}
          checked={model.private === 0}
          onChange={(open) =>
            void attempt(
              () => api.setTrainModel({ model_id: model.id, private: open ? 0 : 1 }),
              trainTexts.saved,
            )
          }
        />
      )}
      <Sheet open={editing} onClose={() => setEditing(false)} title="设置">
        <ProjectForm
          place={translation ? 'translate' : 'train'}
          model={model}
          onDone={() => {
            setEditing(false);
            toast(trainTexts.saved, 'success');
          }}
        />
        {model.type !== projectTypes.lora && (
          <p className={css.note}>新的设置对以后添加的文件生效。</p>
        )}
      </Sheet>
    </section>
  );
};

/** One project: how it stands, what it is made of, and what it can do. */
export const ProjectScreen = ({
  id,
  place,
  onBack,
}: {
  id: number;
  place: Place;
  onBack: () => void;
}) => {
  const project = useCall(
    'trainModel',
    { model_id: id },
    { refetchInterval: (query) => (query.state.data?.model.job ? watchMs : false) },
  );
  const model = project.data?.model ?? null;
  const live = useProjectJob(model);
  const engines = useEngines().data;
  usePageTitle(model?.name ?? (place === 'train' ? '知识库与画风' : '翻译'));
  const state = model && stateWords(model);
  return (
    <div className={`page ${css.screen}`}>
      <header className="page-head">
        <Button kind="ghost" size="icon" aria-label="返回列表" onClick={onBack}>
          <Icon name="back" size={24} />
        </Button>
        <h1 className={css.oneLine}>{model?.name ?? '项目'}</h1>
        {state && (
          <span className={css.state} data-look={state.look}>
            {state.text}
          </span>
        )}
      </header>
      {project.isPending && <Skeleton lines={8} />}
      {project.isError && !model && <QueryFailed query={project} />}
      {model && (
        <>
          <p className={css.note}>
            {[
              kindWords(model).name,
              `Key ${model.key}`,
              model.engine !== '' ? `由 ${model.engine}` : '',
              model.mine ? '' : maskName(model.user.user_name),
              model.desc,
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
          {isTranslation(model) && engines?.translate.length === 0 && (
            <p className={css.warning} role="note">
              还没有连接模型：文字会原样保留，不会翻译。
            </p>
          )}
          {live && model.job && (
            <div className={css.working} role="status">
              {live.current_image !== '' && <img src={live.current_image} alt="画风现在的样子" />}
              <div>
                <strong>{progressText(live.job)}</strong>
                <ProgressBar label="总进度" part={live.job.progress} />
                {live.job.model === trainTexts.rereading && (
                  <span>本机的向量模型正在重读它的段落，不收费；期间照常能问。</span>
                )}
              </div>
            </div>
          )}
          <ProjectActs model={model} onGone={onBack} />
          {model.type === projectTypes.lora && model.mine && (
            <section className={css.section} aria-label="图片">
              <h2>图片</h2>
              <LoraImages key={model.id} model={model} onStarted={() => void project.refetch()} />
            </section>
          )}
          {model.type === projectTypes.knowledge && model.over_num > 0 && (
            <TryQuestions embeddingKey={model.key} />
          )}
          <Files key={model.id} model={model} />
          {model.type === projectTypes.knowledge && model.mine && <Keeping modelId={model.id} />}
        </>
      )}
    </div>
  );
};
