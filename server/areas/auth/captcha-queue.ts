import { randomUUID } from 'node:crypto';
import { createFairQueue } from '#server/fair-queue.ts';
import { type Context, Refusal } from '#server/http/handlers.ts';
import { addressKey, isLocal, networkKey } from '#server/http/rate-limit.ts';

/** Pictures that one network may have waiting. */
const mostWaiting = 30;

type Place = Pick<Context, 'ip' | 'gone'>;

/**
 * Pictures are drawn one after the other, of each network one in turn: whoever asks for thousands
 * keeps nobody else waiting. What nobody waits for any more is not drawn.
 */
export const createCaptchaQueue = () => {
  const inTurn = createFairQueue(1, mostWaiting);
  return async <T>({ ip, gone }: Place, draw: () => Promise<T>): Promise<T> => {
    // A proxy on this machine may hide whoever comes through it.
    const person = isLocal(addressKey(ip)) ? randomUUID() : networkKey(ip);
    return inTurn({ person, guest: false }, async () => {
      if (gone()) throw new Refusal('unavailable');
      return draw();
    });
  };
};
