import { compactNumber } from '#common/compact-number.ts';
import type { IconName } from '#src/ui/icon.tsx';
import type { Out } from '#contract/calls.ts';
import type { ProjectSettings, TrainFile, TrainModel } from '#contract/train.ts';
import { fileStates, projectStates, projectTypes } from '#contract/train-limits.ts';

/** The two screens of projects: what is trained, and what is translated. */
export type Place = 'train' | 'translate';

/** Made of dropped files alone: the direction of their translation is what their language asks for. */
export const droppedProjects = new Set<number>();

/** What projects were made of, until their screen takes it. */
export const droppedFiles = new Map<number, readonly File[]>();

export const isTranslation = ({ type }: Pick<TrainModel, 'type'>): boolean =>
  type === projectTypes.translation || type === projectTypes.packed;

export const kindWords = ({ type }: Pick<TrainModel, 'type'>): { name: string; icon: IconName } =>
  type === projectTypes.knowledge
    ? { name: '知识库', icon: 'document' }
    : type === projectTypes.lora
      ? { name: '画风', icon: 'spark' }
      : { name: '翻译', icon: 'sort' };

/** How a project stands, in a word, and how that looks. */
export const stateWords = (
  model: TrainModel,
): { text: string; look: 'busy' | 'done' | 'failed' | 'idle' } => {
  const working = isTranslation(model) ? '翻译中' : '训练中';
  if (model.job) return { text: model.job.state === 'queued' ? '排队中' : working, look: 'busy' };
  if (model.status === projectStates.packed) return { text: '已打包', look: 'done' };
  const failed = model.failed_num;
  if (model.status === projectStates.trained && failed > 0)
    // A style is whole again each time; of a project of files only some may be there.
    return model.type === projectTypes.lora
      ? { text: `可以使用 · ${failed} 次没成功`, look: 'done' }
      : { text: `${model.over_num} 个完成 · ${failed} 个没成功`, look: 'failed' };
  if (model.status === projectStates.trained)
    return { text: isTranslation(model) ? '已译完' : '可以使用', look: 'done' };
  if (model.status === projectStates.failed) return { text: '没有成功', look: 'failed' };
  if (model.waiting_num > 0) return { text: '等您开始', look: 'idle' };
  return { text: model.total_num > 0 ? '等待中' : '还没有内容', look: 'idle' };
};

/** @param learned what it yielded is told as passages */
export const fileState = (file: TrainFile, learned: boolean): string => {
  if (file.waiting) return '等您开始';
  if (file.status === fileStates.working)
    return file.total_num > 0 ? `进行中 ${file.over_num} / ${file.total_num}` : '等待中';
  if (file.status === fileStates.failed) return `没有成功：${file.error}`;
  if (file.status === fileStates.unpacked) return `已展开，共 ${file.total_num} 个文件`;
  const yielded = learned ? ` · ${file.total_num} 段` : '';
  return `完成${yielded}${file.token > 0 ? ` · ${compactNumber(file.token)} tokens` : ''}`;
};

export const settingsOf = (model: Pick<TrainModel, 'settings'>): ProjectSettings =>
  JSON.parse(model.settings) as ProjectSettings;

/** What is being worked on is looked at so often, ms. */
export const watchMs = 1_500;

/** A list of files is read again while one of them is being worked on. */
export const watchFiles = {
  refetchInterval: ({ state }: { state: { data?: Out<'trainFileList'> | undefined } }) =>
    state.data?.list.some(({ status, waiting }) => status === fileStates.working && !waiting)
      ? watchMs
      : false,
} as const;
