import { type Prefs, prefsKey, readPrefs, showPrefs } from './prefs-record.ts';
import { createStore, useStore } from './store.ts';

const store = createStore(readPrefs());
const systemDark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

const apply = () => showPrefs(store.get());

export const prefsStore = {
  get: store.get,
  set: (next: Partial<Prefs>) => {
    const prefs = { ...store.get(), ...next };
    try {
      localStorage.setItem(prefsKey, JSON.stringify(prefs));
    } catch {
      // The choice lasts as long as the page.
    }
    store.set(prefs);
    apply();
  },
};

systemDark?.addEventListener('change', apply);
globalThis.addEventListener?.('storage', (event) => {
  if (event.key !== prefsKey) return;
  store.set(readPrefs());
  apply();
});

export const usePrefs = (): Prefs => useStore(store);
