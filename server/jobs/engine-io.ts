import type { JobIo } from './job-kind.ts';

/** When a service that had no room is asked again, ms. */
export const turnInMs = 8_000;

/** Which service has a job, and what it calls the work: for whoever takes the job over. */
export interface AtService {
  at?: { channelId: number; remote: unknown };
  /** Services that had the order and gave nothing of use: they are not asked to bill it again. */
  spent?: number[];
}

/** Of these services those that may be asked, whoever has the work already first. */
export const askable = <T extends { channelId: number }>(
  channels: readonly T[],
  { at, spent = [] }: AtService,
): T[] => {
  const left = channels.filter(({ channelId }) => !spent.includes(channelId));
  const first = left.filter(({ channelId }) => channelId === at?.channelId);
  return [...first, ...left.filter((each) => !first.includes(each))];
};

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
