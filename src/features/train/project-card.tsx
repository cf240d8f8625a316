import { compactNumber } from '#common/compact-number.ts';
import { maskName } from '#src/platform/format.ts';
import { noteJob, useJob } from '#src/platform/jobs.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { TrainModel } from '#contract/train.ts';
import { useEffect } from 'react';
import { kindWords, stateWords } from './projects.ts';
import css from './train.module.css';

/** Follows the work on a project; gives how far it is. */
export const useProjectJob = (model: TrainModel | null) => {
  const told = model?.job ?? null;
  useEffect(() => {
    if (told) noteJob(told);
  }, [told]);
  return useJob(told);
};

export const ProjectCard = ({ model, onOpen }: { model: TrainModel; onOpen: () => void }) => {
  const live = useProjectJob(model);
  const kind = kindWords(model);
  const state = stateWords(model);
  const done = model.over_num;
  return (
    <li>
      <button type="button" className={css.card} onClick={onOpen}>
        <span className={css.cardIcon} aria-hidden="true">
          {live && live.current_image !== '' ? (
            <img src={live.current_image} alt="" />
          ) : (
            <Icon name={kind.icon} />
          )}
        </span>
        <span className={css.cardWords}>
          <strong>{model.name}</strong>
          <small>
            {kind.name} ·{' '}
            {model.mine ? (model.private ? '私有' : '公开') : maskName(model.user.user_name)}
          </small>
          {model.desc !== '' && <span className={css.cardDesc}>{model.desc}</span>}
          {live && model.job && (
            <ProgressBar label={`${model.name} 的进度`} part={live.job.progress} />
          )}
          <small>
            {done} / {model.total_num} 个完成
            {model.token > 0 && ` · ${compactNumber(model.token)} tokens`} ·{' '}
            {relativeTime(model.updated_at)}
          </small>
        </span>
        <span className={css.state} data-look={state.look}>
          {state.text}
        </span>
      </button>
    </li>
  );
};
