import type { Job, JobKind } from '#contract/job.ts';

/** What is being done, and what it is called where it has no title. */
export const jobWords: Readonly<Record<JobKind, { doing: string; name: string; open: string }>> = {
  image: { doing: '正在画', name: '画图', open: '看图' },
  video: { doing: '正在制作', name: '视频', open: '看视频' },
  embedding: { doing: '正在学习', name: '知识库训练', open: '查看' },
  lora: { doing: '正在训练', name: '画风训练', open: '查看' },
  translate: { doing: '正在翻译', name: '文档翻译', open: '查看' },
  reconciliation: { doing: '正在核对', name: '对账', open: '查看' },
  'local-model': { doing: '正在下载', name: '下载模型', open: '查看' },
  ollama: { doing: '正在拉取', name: '拉取模型', open: '查看' },
  'account-export': { doing: '正在整理', name: '账户数据', open: '下载' },
};

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
      : `排队中，轮到就开始${seconds(job.remaining)}`;
  if (job.stopping) return '已停止：已经发出的，做好后会放在这里';
  // Many services tell nothing until they are done: then there is no percent to show.
  const percent = Math.min(99, Math.floor(job.progress * 100));
  return `${jobWords[job.kind].doing}${percent > 0 ? ` ${percent}%` : ''}${seconds(job.remaining)}`;
};
