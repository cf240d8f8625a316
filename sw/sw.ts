import { startCache, type ShellFile } from './cache.ts';
import { clearFacts } from './kv.ts';
import type { ToWorker } from './messages.ts';
import { startOutboxSync } from './outbox-sync.ts';
import { answerShares } from './share.ts';
import { startWaits } from './waits.ts';

declare const self: ServiceWorkerGlobalScope;

// The build puts the list of the shell's files here.
const cache = startCache(self.__WB_MANIFEST as ShellFile[]);
answerShares();
const waits = startWaits();
startOutboxSync(waits.takeOver);

const hear = async (message: ToWorker): Promise<void> => {
  switch (message.type) {
    case 'take-update':
      await self.skipWaiting();
      break;
    case 'complete-shell':
      // Out of reach: the next page asks again.
      await cache.complete().catch(() => undefined);
      break;
    case 'forget':
      await Promise.all([cache.forget(), clearFacts()]);
      await waits.forget();
      break;
    case 'waits-over':
      await waits.takeOver(message.waits, message.token);
      break;
    case 'waits-back':
      await waits.giveBack(message.waits);
      break;
  }
};

self.addEventListener('message', (event) => {
  event.waitUntil(hear(event.data as ToWorker));
});
