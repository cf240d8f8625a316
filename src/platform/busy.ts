import { createStore } from './store.ts';

/** What is going on in this tab and must not be cut off: replies being read, files being sent. */
export interface Busy {
  replies: number;
  uploads: number;
}

const store = createStore<Busy>({ replies: 0, uploads: 0 });
export const busyStore = { get: store.get, subscribe: store.subscribe };

/** Something begins; the returned function, called once, says that it has ended. */
export const beginBusy = (what: keyof Busy): (() => void) => {
  const add = (count: number) => store.set({ ...store.get(), [what]: store.get()[what] + count });
  add(1);
  return () => add(-1);
};
