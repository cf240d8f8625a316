import type { JobIo } from './job-kind.ts';

/** Which service has a job, and what it calls the work: for whoever takes the job over. */
export interface AtService {
  at?: { channelId: number; remote: unknown };
}

/**
 * What an engine is told, and tells, while it works on a job.
 * @param done what the job's row remembers
 */
export const engineIo = (
  io: JobIo,
  channelId: number,
  done: AtService,
  preview: (data: Buffer) => Promise<string>,
) => ({
  signal: io.signal,
  sent: io.sent,
  progress: (fraction: number, data?: Buffer) =>
    io.progress(fraction, data && (() => preview(data))),
  remember: (remote: unknown) => {
    done.at = { channelId, remote };
    return io.remember(done);
  },
  resume: done.at?.channelId === channelId ? done.at.remote : null,
});
