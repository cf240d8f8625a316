import { progressText } from '#src/platform/job-text.ts';
import { isUnfinished, useJob } from '#src/platform/jobs.ts';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { Message } from '#contract/chat.ts';
import { codeNumbers, engineFailed } from '#contract/page-errors.ts';
import type { JobEvent } from '#contract/job.ts';
import { Link } from '@tanstack/react-router';
import { useStopJob } from '../job/use-stop-job.ts';
import { useChatActs } from './chat-context.ts';
import { useAsking, useRefused } from './work.ts';
import css from './work.module.css';
import rowCss from './conversation.module.css';

/** Why there is nothing yet, and what its button says. */
export interface Missing {
  reason: string;
  code: number;
  /** Nothing was taken for it. */
  free: boolean;
  /** It was the person's own will. */
  quiet: boolean;
  label: string;
}

type WorkState =
  /** `live`: null while it is on its way to the server. */
  { live: JobEvent | null; cancellable: boolean } | { missing: Missing };

/** How the work on a message stands of which nothing is there to show. */
export const useWorkState = (
  message: Message,
  words: {
    /** Nobody has begun it. */
    unbegun: string;
    begin: string;
    /** Why it failed, where more is known than the job tells. */
    failed?: string;
  },
): WorkState => {
  const acts = useChatActs();
  const live = useJob(message.job);
  const refused = useRefused(message.id);
  const asking = useAsking(message.id);
  const job = live?.job ?? null;
  if (message.id < 0 || asking) return { live: null, cancellable: false };
  // What has ended elsewhere is being read.
  const arriving = job?.state === 'done' && message.state === 'none';
  if (job && (isUnfinished(job) || arriving)) return { live, cancellable: acts.owner && !arriving };
  const missing = { code: 0, free: false, quiet: false, label: '重试' };
  if (refused)
    return { missing: { ...missing, reason: refused.message, code: refused.code, free: true } };
  if (job?.state === 'cancelled' || message.state === 'stopped') {
    const took = job?.error_message || message.error_message || '没有扣费';
    return { missing: { ...missing, reason: `已取消，${took}`, quiet: true, label: '重新开始' } };
  }
  if (job?.state === 'error' || message.state === 'error')
    return {
      missing: {
        ...missing,
        reason: words.failed ?? (job?.error_message || message.error_message || engineFailed),
        code: job?.error_code ?? (Number(message.error_code) || 0),
        free: (job?.deduct_tokens ?? message.deduct_tokens) === 0,
      },
    };
  return { missing: { ...missing, reason: words.unbegun, quiet: true, label: words.begin } };
};

/** How far it is, and its cancel. */
export const WorkProgress = ({
  live,
  cancellable,
  label,
}: {
  live: JobEvent | null;
  cancellable: boolean;
  /** What its bar is called. */
  label: string;
}) => {
  const job = live?.job;
  const { label: stopLabel, busy, stop } = useStopJob(job);
  const progress = job?.progress ?? 0;
  return (
    <div className={css.madeState}>
      <p role="status">{job ? progressText(job) : '正在发送…'}</p>
      {job && cancellable && !job.stopping && (
        <button type="button" className={rowCss.noticeAct} disabled={busy} onClick={stop}>
          {stopLabel}
        </button>
      )}
      <ProgressBar label={label} part={progress} className={css.madeBar} />
    </div>
  );
};

/** Why there is nothing, and how to go on. */
export const WorkMissing = ({
  message,
  missing: { reason, code, free, quiet, label },
  prompt,
  price,
  onBegin,
  onChange,
}: {
  message: Message;
  missing: Missing;
  /** Goes along to a free model. */
  prompt: string;
  /** What another try takes, in words; empty: nothing. */
  price: string;
  onBegin: () => void;
  /** Puts the request back into its box. */
  onChange: () => void;
}) => {
  const acts = useChatActs();
  const asking = useAsking(message.id);
  const insufficient = code === codeNumbers.balance || code === codeNumbers.balance_excluded;
  // The same words would be refused again.
  const banned = code === codeNumbers.prompt_banned;
  return (
    <div
      className={quiet ? `${css.madeFailed} ${css.madeQuiet}` : css.madeFailed}
      role={quiet ? undefined : 'alert'}
    >
      <p>
        {!quiet && <Icon name="warning" size={16} />}
        <span>
          {reason}
          {free && !reason.includes('没有扣费') && '（没有扣费）'}
        </span>
      </p>
      {acts.owner && acts.writable && (
        <div className={rowCss.noticeActs}>
          {insufficient && (
            <>
              <Link
                className={`${rowCss.noticeAct} ${rowCss.noticeActFirst}`}
                to="/account"
                search={{ tab: 'recharge' }}
              >
                去充值
              </Link>
              <button
                type="button"
                className={rowCss.noticeAct}
                onClick={() => acts.startAnew(prompt, 'free')}
              >
                换免费模型
              </button>
            </>
          )}
          {banned ? (
            <button
              type="button"
              className={`${rowCss.noticeAct} ${rowCss.noticeActFirst}`}
              onClick={onChange}
            >
              修改提示词
            </button>
          ) : (
            <button
              type="button"
              className={
                insufficient ? rowCss.noticeAct : `${rowCss.noticeAct} ${rowCss.noticeActFirst}`
              }
              disabled={asking}
              onClick={onBegin}
            >
              {label}
              {price !== '' && ` · ${price}`}
            </button>
          )}
        </div>
      )}
    </div>
  );
};
