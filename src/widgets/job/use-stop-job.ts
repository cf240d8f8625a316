import { api } from '@/platform/api.ts';
import { ApiError } from '@/platform/api-error.ts';
import { stopWords } from '@/platform/job-stop.ts';
import { confirmDialog } from '@/ui/dialog.ts';
import type { Job } from '@contract/job.ts';
import { useState } from 'react';

/** Stops a job by its person's will, who is told first what that costs. */
export const useStopJob = (job: Job | undefined) => {
  const [busy, setBusy] = useState(false);
  const { label, sure } = job ? stopWords(job) : { label: '取消', sure: '' };
  const stop = async (): Promise<void> => {
    if (!job) return;
    if (sure !== '' && !(await confirmDialog({ title: '停止吗？', text: sure, ok: '停止' })))
      return;
    setBusy(true);
    try {
      await api.cancelJob({ request_id: job.uuid });
    } catch (error) {
      // The call has said why.
      if (!(error instanceof ApiError)) throw error;
    } finally {
      setBusy(false);
    }
  };
  return { label, busy, stop: () => void stop() };
};
