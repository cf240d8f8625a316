import type { Job } from '@contract/job.ts';

const seconds = (remaining: number | null): string => {
  if (remaining === null || remaining <= 0) return '';
  if (remaining < 60) return ` · 约 ${remaining} 秒`;
  return ` · 约 ${Math.ceil(remaining / 60)} 分钟`;
};

/** How far a job that has not ended is, in words. */
export const progressText = (job: Job): string => {
  if (job.state === 'queued')
    return job.position > 0
      ? `排队中，前面还有 ${job.position} 个${seconds(job.remaining)}`
      : `马上开始${seconds(job.remaining)}`;
  return `正在画 ${Math.floor(job.progress * 100)}%${seconds(job.remaining)}`;
};
