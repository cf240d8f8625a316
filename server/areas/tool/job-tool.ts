import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '#server/http/handlers.ts';
import { jobOfRequest } from '#server/jobs/job.service.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import { ToolFailure, type ToolContext } from './tool.ts';

/** How often a work is looked at, ms. */
const lookEvery = 400;

type Row = NonNullable<Awaited<ReturnType<typeof jobOfRequest>>>;

/** A refusal is told to the model; it says what its person can do. */
export const telling = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw new ToolFailure(error.message);
    throw error;
  }
};

/**
 * Waits until a work of a call has ended. A stop ends it.
 * @param look null as long as it goes on
 * @throws ToolFailure where it was stopped, and what `look` throws
 */
export const untilEnded = async <T>(
  signal: AbortSignal,
  { look, stop }: { look: () => Promise<T | null>; stop: () => Promise<unknown> },
): Promise<T> => {
  for (;;) {
    const ended = await look();
    if (ended !== null) return ended;
    try {
      await sleep(lookEvery, undefined, { signal });
    } catch {
      // Another process goes on with what was lost here.
      if (signal.reason !== 'lost') await stop();
      throw new ToolFailure('已停止');
    }
  }
};

/**
 * Begins the work of a call, unless it began before, and waits for its end. A stop cancels it.
 * @param failed what is said of one that failed without a reason
 * @throws ToolFailure where it failed or was stopped
 */
export const jobOfCall = async (
  jobs: Pick<Jobs, 'cancel'>,
  { db, user, key, signal }: Pick<ToolContext, 'db' | 'user' | 'key' | 'signal'>,
  begin: () => Promise<unknown>,
  failed: string,
): Promise<Row> => {
  const find = () => jobOfRequest(db, key, user.id);
  if (!(await find())) await begin();
  return untilEnded(signal, {
    look: async () => {
      const row = await find();
      if (!row) throw new ToolFailure(failed);
      if (row.state === 'done') return row;
      if (row.finished_at !== null) throw new ToolFailure(row.error_message || failed);
      return null;
    },
    stop: async () => {
      const row = await find();
      if (row) await jobs.cancel(row.id);
    },
  });
};

/** What a work took, in words behind what it made; empty: nothing. */
export const tookText = ({ deduct_tokens: tokens }: { deduct_tokens: number }): string =>
  tokens > 0 ? `，花了 ${tokens} tokens` : '';
