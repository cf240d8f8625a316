import type { Job } from '#contract/job.ts';

/** Those that are done piece by piece: what was done of them is kept and paid. */
const byPieces: ReadonlySet<Job['kind']> = new Set(['embedding', 'translate']);

/** What the button says that stops a job, and what is asked first; `sure` is empty where nothing is lost. */
export const stopWords = (job: Job): { label: string; sure: string } => {
  const costs = job.held_tokens > 0;
  if (job.sent)
    return costs
      ? {
          label: '停止（已发出，仍需付费）',
          sure: `已经发给服务，退不回来：做好后照样给您，最多收 ${job.held_tokens} tokens。还没有发出的不再做，没有做成的不收费。`,
        }
      : {
          label: '停止（已发出）',
          sure: '已经发给服务，收不回来：做好后照样给您。还没有发出的不再做。',
        };
  if (job.kind === 'lora' && costs && job.state === 'running')
    return {
      label: '停止（练了的仍需付费）',
      sure: `训练服务按时间收费：现在停止要付已经练了的那一份，${job.held_tokens} tokens 的 ${Math.max(10, Math.ceil(job.progress * 100))}% 左右，画风不会留下。`,
    };
  if (byPieces.has(job.kind))
    return {
      label: '停止',
      sure: '已经发给模型服务的部分照常计费，其余的不收费。之后可以再来一次。',
    };
  return { label: '取消', sure: '' };
};
