import { randomUUID } from 'node:crypto';
import { createFairQueue } from '#server/fair-queue.ts';
import { type Context, Refusal } from '#server/http/handlers.ts';
import { addressKey, isLocal, networkKey, providerKey } from '#server/http/rate-limit.ts';

/** Pictures that one network may have waiting. */
const mostWaiting = 30;

type Place = Pick<Context, 'ip' | 'gone'>;

/**
 * Pictures are drawn one after the other, of each provider one in turn, and of its networks one in
 * turn: whoever asks for thousands, from however many networks of a line of IPv6, keeps nobody else
 * waiting for more than one of them. What nobody waits for any more is not drawn.
 */
export const createCaptchaQueue = () => {
  const inTurn = createFairQueue(1);
  const providers = new Map<
    string,
    { ofNetworks: ReturnType<typeof createFairQueue>; waiting: number }
  >();
  return async <T>({ ip, gone }: Place, draw: () => Promise<T>): Promise<T> => {
    // A proxy on this machine may hide whoever comes through it.
    const network = isLocal(addressKey(ip)) ? randomUUID() : networkKey(ip);
    const provider = (isLocal(addressKey(ip)) ? null : providerKey(ip)) ?? network;
    const own = providers.get(provider) ?? {
      ofNetworks: createFairQueue(1, mostWaiting),
      waiting: 0,
    };
    providers.set(provider, own);
    own.waiting += 1;
    const requireHere = () => {
      if (gone()) throw new Refusal('unavailable');
    };
    try {
      return await own.ofNetworks({ person: network, guest: false }, async () => {
        requireHere();
        return inTurn({ person: provider, guest: false }, async () => {
          requireHere();
          return draw();
        });
      });
    } finally {
      own.waiting -= 1;
      if (own.waiting === 0) providers.delete(provider);
    }
  };
};
