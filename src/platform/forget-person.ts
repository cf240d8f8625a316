import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { databaseName } from './cache-name.ts';
import { loadStore } from './cache.ts';
import { clearDrafts } from './draft.ts';
import { notePrefix } from './outbox-state.ts';
import { loadOutbox } from './load-outbox.ts';
import { readUnsent } from './unsent.ts';
import { prefsStore } from './prefs.ts';

/** How much of the person who is here waits to be sent. */
export const unsentCount = (): number => readUnsent()[accountOf(authStore.get().token)]?.count ?? 0;

/** Takes all of the person out of this browser: what was read, written and chosen. */
export const forgetPerson = async (): Promise<void> => {
  const account = accountOf(authStore.get().token);
  // At once: what still asks with the ended token meanwhile must not load the page anew.
  authStore.clear();
  clearDrafts();
  for (const key of Object.keys(localStorage))
    if (key.startsWith(notePrefix)) localStorage.removeItem(key);
  prefsStore.set({ model: '' });
  // Before anything is read anew: its token is over.
  authStore.clear();
  const gone = [
    loadOutbox().then((outbox) => outbox.forget(account)),
    loadStore().then(
      (store) => store.clear(),
      () => void indexedDB.deleteDatabase(databaseName),
    ),
    import('./pwa.ts').then((pwa) => pwa.forgetPerson()),
  ];
  await Promise.allSettled(gone);
};
