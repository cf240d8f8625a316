import { createStore } from './store.ts';

const key = 'queqiao.running';
const read = (): number => {
  try {
    return Number(localStorage.getItem(key)) || 0;
  } catch {
    return 0;
  }
};

const store = createStore(read());

/**
 * How many jobs of the person run or wait, as far as this browser knows: what follows them is
 * loaded only where there are some.
 */
export const runningJobs = {
  ...store,
  set: (count: number) => {
    if (count === store.get()) return;
    try {
      if (count === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, String(count));
    } catch {
      // Known as long as the page lives.
    }
    store.set(count);
  },
};

globalThis.addEventListener?.('storage', (event) => {
  if (event.key === key || event.key === null) store.set(read());
});
