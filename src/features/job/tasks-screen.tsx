import { Chip } from '#src/ui/chip.tsx';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { BackHead } from '#src/ui/back-head.tsx';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { useCallPages } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { jobWords, progressText } from '#src/platform/job-text.ts';
import { findJobs, isUnfinished, noteJob, useJob } from '#src/platform/jobs.ts';
import { thumbnailOf } from '#src/platform/question.ts';
import { useModel, useWriter } from '#src/platform/queries.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { Button, buttonClass, ButtonLink } from '#src/ui/button.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { uuid } from '#src/platform/uuid.ts';
import { useStopJob } from '#src/widgets/job/use-stop-job.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import { needsTranslation } from '#contract/image-prompt.ts';
import type { Job } from '#contract/job.ts';
import { translationDeduction } from '#contract/price.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import css from './job.module.css';

const route = getRouteApi('/tasks');

const filters = [
  {
    state: undefined,
    name: '全部',
    none: '还没有任务。画一张图，它的进度会在这里。',
    fits: () => true,
  },
  { state: 'running', name: '进行中', none: '现在没有任务在进行。', fits: isUnfinished },
  {
    state: 'done',
    name: '已完成',
    none: '还没有完成的任务。',
    fits: (job: Job) => job.state === 'done',
  },
  {
    state: 'failed',
    name: '没成功',
    none: '没有失败或取消的任务。',
    fits: (job: Job) => job.state === 'error' || job.state === 'cancelled',
  },
] as const;

const states = {
  queued: '排队',
  running: '进行中',
  done: '完成',
  error: '没成功',
  cancelled: '已取消',
};

const cost = (job: Job): string => {
  const tokens = job.deduct_tokens;
  if (job.state === 'error' || job.state === 'cancelled') {
    if (job.deduct_tokens > 0) return `扣 ${tokens} tokens，其余已退回`;
    return job.error_message.includes('没有扣费') ? '' : '没有扣费';
  }
  if (job.deduct_tokens === 0) return '免费';
  return isUnfinished(job) ? `预扣 ${tokens} tokens` : `花费 ${tokens} tokens`;
};

/** Leads to what a job is about: its message, or the image that it went on from. */
const Subject = ({
  job,
  className,
  children,
}: {
  job: Job;
  className?: string;
  children: ReactNode;
}) =>
  job.subject_kind === 'project' ? (
    <Link
      to={job.kind === 'translate' ? '/translate' : '/train'}
      search={{ model_id: job.subject_id }}
      className={className}
    >
      {children}
    </Link>
  ) : job.subject_kind === 'image' ? (
    <Link to="/image/private" search={{ image_id: job.subject_id }} className={className}>
      {children}
    </Link>
  ) : job.subject_kind === 'local-model' ? (
    <Link to="/manager/model" search={{ tab: 'local' }} className={className}>
      {children}
    </Link>
  ) : (
    <Link
      to="/chat"
      search={{ uuid: job.session_uuid, history_id: job.history_id }}
      className={className}
    >
      {children}
    </Link>
  );

/** What the same once more takes, behind a dot; empty: nothing. */
const usePriceAgain = ({ held_tokens, translates, title }: Job): string => {
  const writer = useWriter();
  if (!translates || !writer || !needsTranslation(title))
    return held_tokens > 0 ? ` · ${held_tokens} tokens` : '';
  const { factor, prompt_factor: promptFactor } = writer;
  const tokens = held_tokens + translationDeduction({ factor, promptFactor }, title);
  return tokens > 0 ? ` · 约 ${tokens} tokens` : '';
};

const Task = ({ told, superseded }: { told: Job; superseded: boolean }) => {
  const live = useJob(told);
  const job = live?.job ?? told;
  const label = useModel(job.model)?.label ?? job.model;
  const unfinished = isUnfinished(job);
  const failed = job.state === 'error' || job.state === 'cancelled';
  const banned = job.error_code === codeNumbers.prompt_banned;
  const price = usePriceAgain(told);
  const [again, setAgain] = useState(false);
  const retried = job.subject_kind === 'message' && (superseded || again);
  const { label: stopLabel, busy: stopping, stop } = useStopJob(job);
  const { busy: retrying, run } = useAct();
  const retry = async () => {
    const asked = {
      history_id: job.history_id,
      request_id: uuid(),
      ...(told.translates ? { translate: 1 as const } : {}),
    };
    const { job: fresh } = await (job.kind === 'video'
      ? api.generateVideo(asked)
      : api.generateImage(asked));
    noteJob(fresh);
    setAgain(true);
    toast('又开始了', 'success');
  };
  return (
    <li className={css.task} data-state={job.state}>
      <div className={css.taskImage} aria-hidden="true">
        {live && live.current_image !== '' ? (
          <img src={live.current_image} alt="" />
        ) : told.image ? (
          <img src={thumbnailOf(told.image, 128)} alt="" loading="lazy" />
        ) : (
          <Icon name={job.state === 'error' ? 'warning' : 'spark'} size={22} />
        )}
      </div>
      <div className={css.taskWords}>
        <h2>
          <Subject job={job}>{job.title || jobWords[job.kind].name}</Subject>
        </h2>
        {unfinished ? (
          <>
            <p className={css.taskState} role="status">
              {progressText(job)}
            </p>
            <ProgressBar label="进度" part={job.progress} className={css.taskBar} />
          </>
        ) : (
          <p className={css.taskState}>
            {[states[job.state], job.error_message].filter(Boolean).join('：')}
          </p>
        )}
        <p className={css.taskFacts}>
          {[label, job.engine, cost(job), relativeTime(job.finished_at ?? job.created_at)]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      <div className={css.taskActs}>
        {unfinished && !job.stopping && (
          <Button size="small" busy={stopping} onClick={stop}>
            {stopLabel}
          </Button>
        )}
        {failed &&
          !retried &&
          (banned || job.subject_kind === 'image' ? (
            // The same once more would be refused again; what was asked of a image is asked there.
            <Subject job={job} className={buttonClass({ size: 'small' })}>
              {banned ? '修改提示词' : '再改一次'}
            </Subject>
          ) : (
            job.subject_kind === 'message' && (
              <Button size="small" busy={retrying} onClick={() => void run(retry)}>
                重试
                {price}
              </Button>
            )
          ))}
        {job.state === 'done' && (
          <Subject job={job} className={buttonClass({ size: 'small' })}>
            {jobWords[job.kind].open}
          </Subject>
        )}
      </div>
    </li>
  );
};

const subjectOf = ({ subject_kind, subject_id }: Job): string => `${subject_kind} ${subject_id}`;

/** The last work on each subject, of a list that has the newest first: those before it were retried. */
const newestOfSubjects = (jobs: readonly Job[]): ReadonlyMap<string, string> =>
  new Map(jobs.toReversed().map((job) => [subjectOf(job), job.uuid]));

/** All works of the person that take long: what runs, what waits, how others ended. */
export const TasksScreen = () => {
  usePageTitle('任务');
  const { token } = useAuth();
  const { state: which } = route.useSearch();
  const show = useTableSearch();
  const filter = filters.find(({ state }) => state === which) ?? filters[0];
  const jobs = useCallPages('jobList', {}, { enabled: token !== '' });
  useEffect(() => {
    // The list itself says how they stand; without an answer they do not move.
    findJobs().catch(() => {});
  }, []);
  const all = jobs.data?.pages.flatMap(({ list }) => list) ?? [];
  const shown = all.filter((job) => filter.fits(job));
  const newest = newestOfSubjects(all);
  return (
    <div className={`page ${css.tasks}`}>
      <BackHead to="/account" back="返回我的" title="任务" />
      <div className={css.taskFilters} role="group" aria-label="看哪些">
        {filters.map(({ name, state }) => (
          <Chip key={name} aria-pressed={state === which} onClick={() => show({ state })}>
            {name}
            {name === '进行中' && (jobs.data?.pages[0]?.running ?? 0) > 0 && (
              <small>{jobs.data?.pages[0]?.running}</small>
            )}
          </Chip>
        ))}
      </div>
      {token !== '' && jobs.isPending && <Skeleton lines={6} />}
      {jobs.isError && !jobs.data && <QueryFailed query={jobs} />}
      {(token === '' || (jobs.data && shown.length === 0 && !jobs.hasNextPage)) && (
        <EmptyPlace
          drawing="autumn"
          text={filter.none}
          action={
            <ButtonLink to="/" search={{ tab: 'imagine', new: 1 }}>
              画一张
            </ButtonLink>
          }
          example={{
            label: '秋天的枫林，油画',
            prompt: '秋天的枫林，一座小木屋，油画',
            draws: true,
          }}
        />
      )}
      {shown.length > 0 && (
        <ul className={css.taskList}>
          {shown.map((job) => (
            <Task key={job.uuid} told={job} superseded={newest.get(subjectOf(job)) !== job.uuid} />
          ))}
        </ul>
      )}
      {jobs.hasNextPage && (
        <Button busy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
          更早的任务
        </Button>
      )}
    </div>
  );
};
