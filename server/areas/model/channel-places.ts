import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceError } from '#server/engines/service-wire.ts';
import { type ChannelRoom, NoRoom, roomWait } from './channel-room.ts';
import type { WorkChannel } from './resolved-model.ts';

/** What engines do at their services; all else takes no place there. */
const works: ReadonlySet<string | symbol> = new Set([
  'run',
  'speak',
  'hear',
  'detect',
  'interrogate',
]);

type Work = (
  order: unknown,
  io: AbortSignal | { signal: AbortSignal; resume: unknown },
  ...more: unknown[]
) => Promise<unknown>;

/**
 * The same channels, whose engines take a place of their channel for each work. The last one is
 * waited for where it is full; the others fail at once, so that the next one is asked.
 */
export const inPlaces = <C extends WorkChannel & { engine: object }>(
  channels: readonly C[],
  room: Pick<ChannelRoom, 'enter'>,
  Failure: typeof ServiceError,
): C[] => {
  const placed = (channel: C, isLast: boolean): C => {
    const { channelId, engine, parallel } = channel;
    const enter = async (signal: AbortSignal, goesOn: boolean): Promise<() => void> => {
      if (parallel === null) return () => {};
      const until = performance.now() + (isLast ? roomWait.longest : 0);
      for (;;) {
        const leave = await room.enter(channelId, parallel);
        if (leave) return leave;
        // It is under way at the service already.
        if (goesOn) return () => {};
        if (performance.now() >= until)
          throw new Failure('engine_failed', '模型服务繁忙，没有扣费，请稍后重试', {
            retriable: true,
            busy: true,
            cause: new NoRoom(),
          });
        await sleep(roomWait.every);
        signal.throwIfAborted();
      }
    };
    const own: C = { ...channel };
    own.engine = new Proxy(engine, {
      get: (_, name) => {
        const value: unknown = Reflect.get(engine, name);
        if (typeof value !== 'function') return value;
        const act = value.bind(engine) as Work;
        if (!works.has(name)) return act;
        const work: Work = async (order, io, ...more) => {
          const { signal, resume = null } = io instanceof AbortSignal ? { signal: io } : io;
          const leave = await enter(signal, resume !== null);
          own.since = performance.now();
          try {
            return await act(order, io, ...more);
          } finally {
            leave();
          }
        };
        return work;
      },
    });
    return own;
  };
  return channels.map((channel, at) => placed(channel, at === channels.length - 1));
};
