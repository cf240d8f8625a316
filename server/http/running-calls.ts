import { setTimeout as sleep } from 'node:timers/promises';

/** How long calls that were told to end may take to say so and to be billed, ms. */
const endMs = 3_000;

/** Calls that take their time, so that a process that is asked to stop lets them end. */
export const createRunningCalls = () => {
  const ends = new Map<Promise<unknown>, () => void>();
  const ended = (ms: number) =>
    Promise.race([Promise.allSettled(ends.keys()), sleep(ms, undefined, { ref: false })]);
  return {
    /** @param end asks it to come to an end at once */
    async keep<T>(work: Promise<T>, end: () => void): Promise<T> {
      ends.set(work, end);
      try {
        return await work;
      } finally {
        ends.delete(work);
      }
    },
    /** How many run now. */
    count: () => ends.size,
    /** Waits for those that run, and ends those that run longer. */
    async drain(ms: number): Promise<void> {
      await ended(ms);
      for (const end of ends.values()) end();
      await ended(endMs);
    },
  };
};
export type RunningCalls = ReturnType<typeof createRunningCalls>;
