import { setImmediate as breathe } from 'node:timers/promises';

/** Letters that are written before others are served. */
const atOnce = 256 * 1024;

/** Puts a long text together, a piece after the other: everybody else waits for this thread. */
export const createTextFile = () => {
  const parts: Buffer[] = [];
  let open = '';
  return {
    async add(text: string): Promise<void> {
      open += text;
      if (open.length < atOnce) return;
      parts.push(Buffer.from(open));
      open = '';
      await breathe();
    },
    /** All of it, between what stands before and behind it. */
    end: (before: string, after: string): Buffer =>
      Buffer.concat([Buffer.from(before), ...parts, Buffer.from(open + after)]),
  };
};
