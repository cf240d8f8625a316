import { Refusal } from '../../http/handlers.ts';

/** What one person may have waiting. */
const mostWaiting = 8;

/**
 * Lets one thing of each person be done at a time, so that who sends many hostile files waits for
 * them alone. @throws Refusal too_many
 */
export const createPersonQueue = () => {
  const lines = new Map<number, { last: Promise<unknown>; length: number }>();
  return async <T>(userId: number, act: () => Promise<T>): Promise<T> => {
    const line = lines.get(userId) ?? { last: Promise.resolve(), length: 0 };
    if (line.length > mostWaiting)
      throw new Refusal('too_many', '上一批文件还在处理，请稍后再试', { retry_after: 5 });
    lines.set(userId, line);
    line.length += 1;
    const mine = line.last.then(act, act);
    line.last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      line.length -= 1;
      if (line.length === 0) lines.delete(userId);
    }
  };
};
