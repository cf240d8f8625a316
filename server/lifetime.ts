import type { FastifyBaseLogger } from 'fastify';

/** What a process opened, closed in reverse order when it ends or when its start fails. */
export interface Lifetime {
  own: (close: () => unknown) => void;
  /** Closes everything once; what cannot be closed is logged and does not keep the rest open. */
  end: (log?: Pick<FastifyBaseLogger, 'warn'>) => Promise<void>;
}

export const createLifetime = (): Lifetime => {
  const closes: (() => unknown)[] = [];
  return {
    own: (close) => {
      closes.push(close);
    },
    end: async (log) => {
      for (let close = closes.pop(); close; close = closes.pop())
        try {
          await close();
        } catch (error) {
          log?.warn({ err: error }, 'a part of the process could not be closed');
        }
    },
  };
};
