import type { Handlers } from '../http/handlers.ts';
import type { Waits } from './wait.service.ts';

type Served = 'waitStatus' | 'pushKey' | 'pushSubscribe' | 'pushUnsubscribe' | 'watchWaits';

export const createWaitHandlers = (waits: Waits): Pick<Handlers, Served> => ({
  waitStatus: async ({ waits: asked }, { db, user }) => ({
    results: await waits.status(db, user.id, asked),
  }),

  pushKey: () => ({ key: waits.publicKey }),

  pushSubscribe: async (input, { db, user }) => {
    await waits.subscribe(db, user, input);
    return {};
  },

  pushUnsubscribe: async ({ device }, { db, user }) => {
    await waits.unsubscribe(db, user.id, device);
    return {};
  },

  watchWaits: async (input, { db, user, afterCommit }) => {
    await waits.watch(db, user.id, input);
    afterCommit(() => waits.tellEndedOf(user.id, input.waits));
    return {};
  },
});
