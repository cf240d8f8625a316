import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { stopWords } from '#src/platform/job-stop.ts';
import { confirmDialog } from '#src/ui/dialog.ts';
import type { Job } from '#contract/job.ts';

/** Stops a job by its person's will, who is told first what that costs. */
export const useStopJob = (job: Job | undefined) => {
  const { busy, run } = useAct();
  const { label, sure } = job ? stopWords(job) : { label: '取消', sure: '' };
  const stop = async (): Promise<void> => {
    if (!job) return;
    if (sure !== '' && !(await confirmDialog({ title: '停止吗？', text: sure, ok: '停止' })))
      return;
    await run(async () => {
      await api.cancelJob({ request_id: job.uuid });
    });
  };
  return { label, busy, stop: () => void stop() };
};
